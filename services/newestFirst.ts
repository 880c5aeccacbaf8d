import type { RecordedEvent } from "#events/envelope.ts";
import type { EventLog } from "#events/ports.ts";

/** Events per read: their personal fields are decrypted and parsed without a pause. */
const PAGE_EVENTS = 200;
const PAGE_BYTES = 1_000_000;
/** The largest `integer` of PostgreSQL. */
export const MAX_VERSION = 2 ** 31 - 1;

interface Span {
  stream: string;
  from?: number;
  before?: number;
}

/**
 * Events of some types before a version of a stream, down to version `from`, newest first. Keeps one page: a stream may have a
 * hundred megabytes.
 */
export async function* newestFirst(
  log: Pick<EventLog, "readNewest">,
  { stream, from = 1, before = MAX_VERSION }: Span,
  types: string[],
): AsyncGenerator<RecordedEvent> {
  for (let version = before; version > from; ) {
    const limit = Math.min(PAGE_EVENTS, version - from);
    const page = await log.readNewest(stream, { before: version, types, limit, bytes: PAGE_BYTES });
    yield* page.filter((event) => event.version >= from).reverse();
    version = page[0]?.version ?? from;
  }
}
