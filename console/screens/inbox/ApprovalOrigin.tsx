import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { getRun, type Run } from "../../api/run.ts";
import type { Approval } from "../../api/types.ts";
import { parseJson } from "../../format/index.ts";
import { ActorLink } from "../../parts/ActorLink.tsx";
import { QueryResult } from "../../parts/Notices.tsx";
import { PlainFields, plainFieldsOf } from "../../parts/PlainFields.tsx";
import { Time } from "../../parts/Time.tsx";
import { ValueBlock } from "../../parts/ValueBlock.tsx";

/** The tool call, and for whom it would run. */
export function OriginToolCall({ call }: { call: NonNullable<Approval["tool_call"]> }) {
  const { agent, tool, asked_by } = call;
  return (
    <section aria-label="Tool call">
      <p>
        The agent {agent.name ?? "that is no longer here"} wants to run <code>{tool}</code>. It was asked by{" "}
        {asked_by.name ?? "somebody who is no longer here"}.
      </p>
      <ValueBlock label="Arguments" value={call.arguments === null ? "(deleted)" : parseJson(call.arguments)} />
    </section>
  );
}

/** The workflow that asks, who started it, and its arguments, because the decider may not know them. */
export function OriginRun({ id }: { id: string }) {
  const run = useQuery(getRun(id));
  return (
    <QueryResult query={run} what="what asks">
      {(data) => <StartedRun run={data} />}
    </QueryResult>
  );
}

function StartedRun({ run }: { run: Run }) {
  const { args } = run;
  const isPlain = plainFieldsOf(args) !== undefined;
  const isEmpty = typeof args === "object" && args !== null && Object.keys(args).length === 0;
  return (
    <section aria-label="What asks" className="stack">
      <p className="quiet">
        Asked by the workflow {run.workflow_name ?? "that is no longer here"}, which{" "}
        <ActorLink actor={run.started_by} /> started <Time at={run.created_at} />
        {isPlain ? " with:" : "."}
      </p>
      {isPlain && <PlainFields label="What it was started with" value={args} />}
      {!isPlain && !isEmpty && (
        <details>
          <summary>What it was started with</summary>
          <ValueBlock label="Arguments" value={args} />
        </details>
      )}
    </section>
  );
}

/** A link to the run or request that waits for the decision. */
export function OriginLink({ approval: { run_id, tool_call } }: { approval: Approval }) {
  return (
    <p>
      {run_id !== null && (
        <Link to="/runs/$runId" params={{ runId: run_id }}>
          See the run that asks
        </Link>
      )}
      {tool_call && (
        <Link to="/requests/$turnId" params={{ turnId: tool_call.response_id.replace("resp_", "") }}>
          See the request that waits
        </Link>
      )}
    </p>
  );
}
