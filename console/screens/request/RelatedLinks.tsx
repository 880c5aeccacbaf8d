import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { getSession } from "../../api/queries.ts";
import { listAgents } from "../../api/nameLists.ts";
import type { Trace } from "../../api/trace.ts";
import { useRole } from "../../api/useRole.ts";
import { ThingLink } from "../../parts/ThingLink.tsx";

/** Links to the rest of the conversation, for people who may see it. */
export function ThreadLinks({ trace: { thread_id, principal } }: { trace: Trace }) {
  const { isAdmin } = useRole();
  const { data: me } = useQuery(getSession);
  const id = <span className="mono">{thread_id}</span>;
  const isOwn = principal === `person:${me?.user.id}`;
  return (
    <>
      {isOwn ? (
        <Link to="/chat/$threadId" params={{ threadId: thread_id }}>
          {id}
        </Link>
      ) : isAdmin ? (
        <Link to="/log" search={{ stream: `thread-${thread_id}` }}>
          {id}
        </Link>
      ) : (
        <Link to="/requests" search={{ thread: thread_id }}>
          {id}
        </Link>
      )}
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
