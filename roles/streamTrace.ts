import { batchLookups } from "#infra/postgres/batchLookups.ts";
import type { StreamHead } from "#events/ports.ts";
import { currentTrace, withTrace } from "#events/spans.ts";
import { parseTraceHeaders } from "#events/trace.ts";
import type { Db } from "#projections/projection.ts";

type ResumeWork = (head: StreamHead) => Promise<void>;

/** Continues recovered work in the trace in which its stream started. Concurrent look-ups share one query. */
export function withStreamTrace(db: Db): (resumeWork: ResumeWork) => ResumeWork {
  const metaOf = batchLookups<string>(async (streams) => {
    const rows = await db.query<{ stream: string; meta: string }>(
      "select stream, meta from log.events where stream = any($1) and version = 1",
      [streams],
    );
    return new Map(rows.map(({ stream, meta }) => [stream, meta]));
  });
  return (resumeWork) => async (head) => {
    if (currentTrace()) return resumeWork(head);
    const meta = (await metaOf([head.stream])).get(head.stream);
    return withTrace(meta === undefined ? undefined : parseTraceHeaders(JSON.parse(meta)), () => resumeWork(head));
  };
}
