import { useQuery } from "@tanstack/react-query";
import { getRun, type Run } from "../../api/run.ts";
import type { RunStatus } from "../../api/types.ts";
import { QueryResult } from "../../parts/Notices.tsx";
import { PlainFields } from "../../parts/PlainFields.tsx";
import { Time } from "../../parts/Time.tsx";

const SENTENCES: Record<RunStatus, string> = {
  pending: "The workflow goes on soon.",
  running: "The workflow goes on.",
  completed: "The workflow has completed",
  failed: "The workflow has failed",
  cancelled: "The workflow was cancelled",
  continued: "The workflow goes on as another run, since",
};

/** The state of the run after its approval is decided. */
export function RunAfterDecision({ runId }: { runId: string }) {
  const run = useQuery(getRun(runId));
  return (
    <QueryResult query={run} what="the run that asked">
      {(data) => <Since run={data} />}
    </QueryResult>
  );
}

function Since({ run: { status, completed_at, error, result } }: { run: Run }) {
  return (
    <section role="status" aria-label="What happened since" className="stack">
      <p>
        {SENTENCES[status]}
        {completed_at && (
          <>
            {" "}
            <Time at={completed_at} />
            {error ? `: ${error}` : "."}
          </>
        )}
      </p>
      {status === "completed" && result !== null && result !== undefined && (
        <PlainFields label="Result" value={result} />
      )}
    </section>
  );
}
