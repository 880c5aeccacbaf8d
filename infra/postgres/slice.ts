import type { AuditLog, Keyring } from "#events/ports.ts";
import type { Db } from "#projections/projection.ts";
import { decodeEvent, EVENT_COLUMNS, type EventRow } from "./decode.ts";

/** What one slice holds of stored bytes, beyond its first event: five hundred of the largest would be 128 MB. */
const MAX_BYTES = 8 * 1024 * 1024;

interface Found {
  position: number;
  bytes: number;
}

/** How many of them fit. */
function fitting(found: Found[]): number {
  let bytes = 0;
  const first = found.findIndex((event, n) => (bytes += event.bytes) > MAX_BYTES && n > 0);
  return first < 0 ? found.length : first;
}

/** Reads an organization's slices of the log: first where its events stand and how large they are, then those that fit. */
export const openSlices =
  (db: Db, keyring: Keyring): AuditLog["slice"] =>
  async (organization, { after, stream, types, limit }) => {
    const values: unknown[] = [organization, after, limit + 1];
    const also = (condition: string, value: unknown) =>
      value === undefined ? "" : ` and ${condition.replace("?", `$${values.push(value)}`)}`;
    const narrowed = also("stream = ?", stream) + also("type = any(?)", types);
    const found = await db.query<Found>(
      `select position, octet_length(data) + coalesce(octet_length(sealed), 0) as bytes from log.events
       where organization_id = $1 and position > $2${narrowed} order by position limit $3`,
      values,
    );
    const taken = found.slice(0, Math.min(limit, fitting(found)));
    const rows = await db.query<EventRow>(`select ${EVENT_COLUMNS} where e.position = any($1) order by e.position`, [
      taken.map(({ position }) => position),
    ]);
    return { events: rows.map((row) => decodeEvent(row, keyring)), more: taken.length < found.length };
  };
