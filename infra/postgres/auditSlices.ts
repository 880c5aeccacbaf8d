import type { AuditLog } from "#events/auditLog.ts";
import { mapInSlices } from "#events/slices.ts";
import type { Keyring } from "#events/vault.ts";
import type { Db } from "#projections/projection.ts";
import { addConditions, narrowToCommand } from "./commandSpan.ts";
import { decodeEvent, EVENT_COLUMNS, hashSealed, PRINCIPAL_SQL, type EventRow } from "./decode.ts";

/** Maximum stored bytes of a slice, unless its first event alone is larger: five hundred of the largest events would have 128 MB. */
const MAX_BYTES = 8 * 1024 * 1024;

type SliceRow = EventRow & { found: number };

/** Reads slices of an organization's events. The database adds up the sizes, so that only events that fit are sent. */
export const createSliceReader =
  (db: Db, keyring: Keyring): AuditLog["slice"] =>
  async (
    organization,
    { after, stream, types, principal, command, limit, newest_first = false, bytes = MAX_BYTES },
  ) => {
    const [follows, order] = newest_first ? ["<", "position desc"] : [">", "position"];
    const values: unknown[] = [organization, after, limit, bytes];
    const also = addConditions(values);
    const ofCommand = await narrowToCommand(db, organization, command, also);
    const ofStream = also("stream = ?", stream);
    const narrowed = `${ofStream}${also("type = any(?)", types)}${also(`${PRINCIPAL_SQL} = ?`, principal)}${ofCommand}`;
    const rows = await db.query<SliceRow>(
      `with found as (
         select * from log.events where organization_id = $1 and position ${follows} $2${narrowed}
         order by ${order} limit $3::integer + 1
       ), measured as (
         select *, count(*) over () as found, row_number() over (order by ${order}) as place,
           sum(octet_length(data) + coalesce(octet_length(sealed), 0)) over (order by ${order}) as bytes
         from found
       )
       select e.found, ${EVENT_COLUMNS.replace("log.events e", "measured e")}
       where e.place <= $3 and (e.place = 1 or e.bytes <= $4) order by e.${order}`,
      values,
    );
    const audit = ({ found: _, ...row }: SliceRow) => ({
      ...decodeEvent(row, keyring),
      sealed_hash: hashSealed(row.sealed),
    });
    return { events: await mapInSlices(rows, audit), more: rows.length < (rows[0]?.found ?? 0) };
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
