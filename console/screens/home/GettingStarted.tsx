import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { SERVICE_URL } from "../../api/call.ts";
import { listTargets } from "../../api/chat.ts";
import { listNewestTurn } from "../../api/home.ts";
import { listApprovals } from "../../api/queries.ts";

const QUESTION = "How many days may I work from home?";

/** A shell command. TOKEN is a session's token, or an API key if that is sufficient. */
function curl(path: string, body?: object): string {
  const lines = [`curl ${new URL(`api/${path}`, SERVICE_URL).href}`, `-H "authorization: Bearer $TOKEN"`];
  if (body) lines.push("-H 'content-type: application/json'", `-d '${JSON.stringify(body)}'`);
  return lines.join(" \\\n  ");
}

interface CardProps {
  title: string;
  command: string;
  children: ReactNode;
}

/** Something to try, with a click or from a program. */
const Trial = ({ title, command, children }: CardProps) => (
  <article className="card panel trial">
    <h3>{title}</h3>
    {children}
    <details>
      <summary>As a command</summary>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre tabIndex={0} aria-label={`Command: ${title}`}>
        {command}
      </pre>
    </details>
  </article>
);

function AskTrial() {
  const { data: targets = [] } = useQuery(listTargets);
  const agent = targets.find(({ name, agent_id }) => agent_id && name === "Handbook") ?? targets[0];
  const command = agent?.agent_id
    ? curl(`agents/${agent.agent_id}/v1/responses`, { input: QUESTION })
    : curl("openai/v1/chat/completions", {
        model: agent?.model ?? "offline/echo",
        messages: [{ role: "user", content: QUESTION }],
      });
  return (
    <Trial title="Ask the handbook" command={command}>
      <p>“{QUESTION}” The answer names the pages that it comes from.</p>
      <Link className="button primary" to="/chat" search={{ with: agent?.key, ask: QUESTION }}>
        Ask
      </Link>
    </Trial>
  );
}

function ApproveTrial() {
  const { data } = useQuery(listApprovals("pending"));
  const [oldest] = data?.data ?? [];
  const command = curl(`workflows/approvals/${oldest?.id ?? "ID"}/decision`, { decision: "approve", comment: "fine" });
  return (
    <Trial title="Approve a refund" command={command}>
      <p>A workflow waits for a person, however long that takes, and goes on with the decision.</p>
      {oldest ? (
        <Link className="button" to="/inbox/$approvalId" params={{ approvalId: oldest.id }}>
          {oldest.title}
        </Link>
      ) : (
        <Link className="button" to="/inbox">
          Open the inbox
        </Link>
      )}
    </Trial>
  );
}

function ExplainTrial() {
  const { data } = useQuery(listNewestTurn);
  const [newest] = data?.data ?? [];
  return (
    <Trial title="See why it answered" command={curl(`turns/${newest?.id ?? "ID"}/trace`)}>
      <p>Each answer can be explained: the prompt, the passages it was given, the tools, the time and the tokens.</p>
      {newest ? (
        <Link className="button" to="/requests/$turnId" params={{ turnId: newest.id }}>
          Why the newest answer?
        </Link>
      ) : (
        <p className="quiet">Ask something first.</p>
      )}
    </Trial>
  );
}

/** Things that a newcomer can try in five minutes. */
export const GettingStarted = () => (
  <section aria-labelledby="try">
    <h2 id="try">Try it</h2>
    <div className="panels">
      <AskTrial />
      <ApproveTrial />
      <ExplainTrial />
    </div>
  </section>
);
