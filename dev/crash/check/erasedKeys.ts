import type { RecordedEvent } from "#events/envelope.ts";
import type { Db } from "#projections/projection.ts";
import { ERASING } from "./blobs.ts";
import { different, type Finding } from "./finding.ts";

/** I12: the keys of erased things are gone, so nothing can be read that backups or the log still hold. */
export async function checkErasedKeys(db: Pick<Db, "query">, events: RecordedEvent[]): Promise<Finding[]> {
  const erased = [...new Set(events.filter(({ type }) => ERASING.has(type)).map(({ stream }) => stream))];
  const left = await db.query<{ thing: string; stream: string }>(
    "select thing, stream from log.keys where stream = any($1) or thing = any($1)",
    [erased],
  );
  return left.map(({ thing, stream }) =>
    different("I12", stream, `was erased, and the key of ${thing} is still there`),
  );
}
