import type { StreamPage } from "#events/ports.ts";
import { mapInSlices } from "#events/slices.ts";
import type { Keyring } from "#events/vault.ts";
import type { Db } from "#projections/projection.ts";
import { decodeEvent, EVENT_COLUMNS, type EventRow } from "./decode.ts";

/** Maximum events and stored bytes per page, because a stream may have 100 MB. A page has at least one event. */
const PAGE_EVENTS = 1_000;
const PAGE_BYTES = 2_000_000;

const PAGE = `
  with found as (select * from log.events where stream = $1 and version >= $2 order by version limit ${PAGE_EVENTS}),
  measured as (
    select *, octet_length(data) + coalesce(octet_length(sealed), 0) as bytes,
      sum(octet_length(data) + coalesce(octet_length(sealed), 0)) over (order by version) as size from found
  )
  select e.bytes, (select version from log.streams where stream = $1) as newest, ${EVENT_COLUMNS.replace("log.events e", "measured e")}
  where e.size <= ${PAGE_BYTES} or e.version = $2 order by e.version`;

type PageRow = EventRow & { bytes: number; newest: number | null };

/** Reads the events of a stream in order from a version on, page by page. Versions have no gaps. */
export async function* readStreamPages(
  db: Db,
  keyring: Keyring,
  stream: string,
  fromVersion: number,
): AsyncGenerator<StreamPage> {
  for (let next = fromVersion; ; ) {
    const rows = await db.query<PageRow>(PAGE, [stream, next]);
    if (rows.length === 0) return;
    const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
    yield { bytes, events: await mapInSlices(rows, (row) => decodeEvent(row, keyring)) };
    next = rows.at(-1)!.version + 1;
    if (next > (rows[0]!.newest ?? 0)) return;
  }
}
