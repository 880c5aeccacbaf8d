import { together } from "#infra/postgres/together.ts";
import type { StreamHead } from "#events/ports.ts";
import { currentTrace, withTrace } from "#events/spans.ts";
import { traceFrom } from "#events/trace.ts";
import type { Db } from "#projections/projection.ts";

type Attend = (head: StreamHead) => Promise<void>;

/** Has work that was lost, or whose time has come, go on in the trace that its stream began in. Looks of the same moment share one query. */
export function inTraceOfStream(db: Db): (attend: Attend) => Attend {
  const metaOf = together<string>(async (streams) => {
    const rows = await db.query<{ stream: string; meta: string }>(
      "select stream, meta from log.events where stream = any($1) and version = 1",
      [streams],
    );
    return new Map(rows.map(({ stream, meta }) => [stream, meta]));
  });
  return (attend) => async (head) => {
    if (currentTrace()) return attend(head);
    const meta = (await metaOf([head.stream])).get(head.stream);
    return withTrace(meta === undefined ? undefined : traceFrom(JSON.parse(meta)), () => attend(head));
  };
}
