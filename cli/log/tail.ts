import { setTimeout as sleep } from "node:timers/promises";
import type { RecordedEvent } from "#events/envelope.ts";
import { decodeEvent, EVENT_COLUMNS, type EventRow } from "#infra/postgres/decode.ts";
import { withLogAccess, type LogAccess } from "../connect.ts";
import { explainError } from "../explainError.ts";
import { print } from "../output.ts";
import { formatEvent } from "./formatEvent.ts";

const BATCH = 1_000;
const POLL_MS = 500;
const DEFAULT_LIMIT = 20;

export interface TailOptions {
  follow?: boolean;
  stream?: string;
  type?: string;
  organization?: string;
  after?: number;
  limit?: number;
  json?: boolean;
  personal?: boolean;
}

type DisplayedEvent = Omit<RecordedEvent, "data"> & { data: unknown };

/** The filters as SQL conditions; `values` start at $1. */
function filtersToSql({ stream, type, organization }: TailOptions) {
  const columns = Object.entries({ "e.stream": stream, "e.type": type, "e.organization_id": organization });
  const filters = columns.filter((entry): entry is [string, string] => entry[1] !== undefined);
  return {
    where: filters.map(([column], n) => ` and ${column} = $${n + 1}`).join(""),
    values: filters.map(([, value]) => value),
  };
}

/** Shows an event that cannot be decoded as it is stored, so that it can be found. */
function decodeForDisplay(row: EventRow, { keyring }: LogAccess, personal: boolean): DisplayedEvent {
  try {
    return decodeEvent(personal ? row : { ...row, sealed: null }, keyring);
  } catch (error) {
    const { position, stream, version, organization_id, type, command_id, recorded_at, data } = row;
    const meta = { principal: "system", request_id: "" } as const;
    const unreadable = { unreadable: explainError(error), stored: data };
    return {
      position,
      stream,
      version,
      organization_id,
      type,
      command_id,
      recorded_at,
      meta,
      data: unreadable,
      personal: undefined,
    };
  }
}

/** At most `limit` matching rows in log order: the first ones after a position, or the last ones of the log. */
async function readRows(
  { db }: LogAccess,
  options: TailOptions,
  after: number | undefined,
  limit: number,
): Promise<EventRow[]> {
  const { where, values } = filtersToSql(options);
  if (after !== undefined) {
    const bounds = ` and e.position > $${values.length + 1} order by e.position limit $${values.length + 2}`;
    return db.query<EventRow>(`select ${EVENT_COLUMNS} where true${where}${bounds}`, [...values, after, limit]);
  }
  const last = ` order by e.position desc limit $${values.length + 1}`;
  const rows = await db.query<EventRow>(`select ${EVENT_COLUMNS} where true${where}${last}`, [...values, limit]);
  return rows.reverse();
}

/**
 * Prints events, newest last, one per line, as text or JSON: the last 20 (or `limit`), or with `after` those after that
 * position. `personal` opens personal fields. `follow` continues with new events until the process ends.
 */
export function tail(options: TailOptions): Promise<void> {
  return withLogAccess(async (database) => {
    const printRows = (rows: EventRow[]): void => {
      for (const row of rows) {
        const event = decodeForDisplay(row, database, options.personal ?? false);
        print(options.json ? JSON.stringify(event) : formatEvent(event));
      }
    };
    const head = async () =>
      (await database.db.query<{ position: number }>("select position from log.head"))[0]!.position;

    let seen = options.after ?? (await head());
    if (options.after === undefined)
      printRows(
        (await readRows(database, options, undefined, options.limit ?? DEFAULT_LIMIT)).filter(
          (row) => row.position <= seen,
        ),
      );
    else seen = await showAfter(database, options, printRows);
    while (options.follow) {
      const rows = await readRows(database, options, seen, BATCH).catch(reportOnce);
      printRows(rows);
      seen = rows.at(-1)?.position ?? seen;
      if (rows.length < BATCH) await sleep(POLL_MS);
    }
  });
}

/** Prints the events after a position, up to the limit. Returns the last position printed. */
async function showAfter(
  database: LogAccess,
  options: TailOptions,
  printRows: (rows: EventRow[]) => void,
): Promise<number> {
  let seen = options.after!;
  for (let left = options.limit ?? Infinity; left > 0; ) {
    const wanted = Math.min(BATCH, left);
    const rows = await readRows(database, options, seen, wanted);
    printRows(rows);
    seen = rows.at(-1)?.position ?? seen;
    if (rows.length < wanted) break;
    left -= rows.length;
  }
  return seen;
}

let isReported = false;
function reportOnce(error: unknown): EventRow[] {
  if (!isReported) process.stderr.write(`${explainError(error)}: retrying.\n`);
  isReported = true;
  return [];
}
