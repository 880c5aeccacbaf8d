import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { getSession } from "../../api/queries.ts";
import { listAgents } from "../../api/nameLists.ts";
import type { Trace } from "../../api/trace.ts";
import { useRole } from "../../api/useRole.ts";
import { ThingLink } from "../../parts/ThingLink.tsx";

/** The rest of the conversation, on the best screen that the person may open. */
function ThreadLink({ id, isOwn, isAdmin }: { id: string; isOwn: boolean; isAdmin: boolean }) {
  const name = <span className="mono">{id}</span>;
  if (isOwn)
    return (
      <Link to="/chat/$threadId" params={{ threadId: id }}>
        {name}
      </Link>
    );
  if (isAdmin)
    return (
      <Link to="/log" search={{ stream: `thread-${id}` }}>
        {name}
      </Link>
    );
  return (
    <Link to="/requests" search={{ thread: id }}>
      {name}
    </Link>
  );
}

/** Links to the conversation of a request. */
export function ThreadLinks({ trace: { thread_id, principal } }: { trace: Trace }) {
  const { isAdmin } = useRole();
  const { data: me } = useQuery(getSession);
  const isOwn = principal === `person:${me?.user.id}`;
  return (
    <>
      <ThreadLink id={thread_id} isOwn={isOwn} isAdmin={isAdmin} />
      {isAdmin && (
        <>
          {" · "}
          <Link to="/privacy" search={{ section: "holds", subject: `thread:${thread_id}` }}>
            place a hold
          </Link>
        </>
      )}
    </>
  );
}

/** The agent, with a link to its other requests. */
export function AgentLinks({ agent }: { agent: NonNullable<Trace["agent"]> }) {
  const agents = useQuery(listAgents);
  const name = agents.data?.data.find(({ id }) => id === agent.id)?.name;
  return (
    <>
      {name === undefined ? (
        <span className="mono">{agent.id}</span>
      ) : (
        <ThingLink thing={{ kind: "agent", id: agent.id }}>{name}</ThingLink>
      )}
      , version {agent.version}
      {" · "}
      <Link to="/requests" search={{ agent: agent.id }}>
        its requests
      </Link>
    </>
  );
}
