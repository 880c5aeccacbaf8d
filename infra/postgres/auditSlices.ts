import type { AuditLog } from "#events/auditLog.ts";
import { mapInSlices } from "#events/slices.ts";
import type { Keyring } from "#events/vault.ts";
import type { Db } from "#projections/projection.ts";
import { decodeEvent, EVENT_COLUMNS, hashSealed, type EventRow } from "./decode.ts";

/** Stored bytes in one slice, unless its first event alone is larger: five hundred of the largest events would have 128 MB. */
const MAX_BYTES = 8 * 1024 * 1024;

interface StoredSize {
  position: number;
  bytes: number;
}

/** How many of the events fit into one slice. */
function countFitting(found: StoredSize[]): number {
  let bytes = 0;
  const first = found.findIndex((event, n) => (bytes += event.bytes) > MAX_BYTES && n > 0);
  return first < 0 ? found.length : first;
}

/** Reads slices of an organization's events. Sizes are read first, so that only the events that fit are loaded. */
export const createSliceReader =
  (db: Db, keyring: Keyring): AuditLog["slice"] =>
  async (organization, { after, stream, types, limit, newest_first = false }) => {
    const [follows, order] = newest_first ? ["<", "position desc"] : [">", "position"];
    const values: unknown[] = [organization, after, limit + 1];
    const also = (condition: string, value: unknown) =>
      value === undefined ? "" : ` and ${condition.replace("?", `$${values.push(value)}`)}`;
    const narrowed = also("stream = ?", stream) + also("type = any(?)", types);
    const found = await db.query<StoredSize>(
      `select position, octet_length(data) + coalesce(octet_length(sealed), 0) as bytes from log.events
       where organization_id = $1 and position ${follows} $2${narrowed} order by ${order} limit $3`,
      values,
    );
    if (found.length === 0) return { events: [], more: false };
    const taken = found.slice(0, Math.min(limit, countFitting(found)));
    const rows = await db.query<EventRow>(`select ${EVENT_COLUMNS} where e.position = any($1) order by e.${order}`, [
      taken.map(({ position }) => position),
    ]);
    const audit = (row: EventRow) => ({ ...decodeEvent(row, keyring), sealed_hash: hashSealed(row.sealed) });
    return { events: await mapInSlices(rows, audit), more: taken.length < found.length };
  };

export const createHashReader =
  (db: Db): AuditLog["hashes"] =>
  async (organization, positions) => {
    const rows = await db.query<{ position: string; hash: string }>(
      "select position, encode(hash, 'hex') as hash from log.events where organization_id = $1 and position = any($2)",
      [organization, positions],
    );
    return new Map(rows.map(({ position, hash }) => [Number(position), hash]));
  };
