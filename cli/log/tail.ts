import { setTimeout as sleep } from "node:timers/promises";
import type { Recorded } from "#events/envelope.ts";
import { decodeEvent, EVENT_COLUMNS, type EventRow } from "#infra/postgres/decode.ts";
import { withSealed, type Sealed } from "../connect.ts";
import { explain } from "../explain.ts";
import { print } from "../output.ts";
import { readable } from "./readable.ts";

const BATCH = 1_000;
const FOLLOW_EVERY_MS = 500;
const LAST = 20;

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

type Shown = Omit<Recorded, "data"> & { data: unknown };

/** What filters ask for, as SQL; `values` start at $1. */
function conditions({ stream, type, organization }: TailOptions) {
  const asked = Object.entries({ "e.stream": stream, "e.type": type, "e.organization_id": organization });
  const given = asked.filter((entry): entry is [string, string] => entry[1] !== undefined);
  return {
    where: given.map(([column], n) => ` and ${column} = $${n + 1}`).join(""),
    values: given.map(([, value]) => value),
  };
}

/** An event that cannot be read is shown as far as it can, so that it can be found. */
function decoded(row: EventRow, { keyring }: Sealed, personal: boolean): Shown {
  try {
    return decodeEvent(personal ? row : { ...row, sealed: null }, keyring);
  } catch (error) {
    const { position, stream, version, organization_id, type, command_id, recorded_at, data } = row;
    const meta = { principal: "system", request_id: "" } as const;
    const unreadable = { unreadable: explain(error), stored: data };
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

/** The rows that filters let through, the newest last, at most `limit`: the first ones after a position, else the last ones. */
async function read(
  { db }: Sealed,
  options: TailOptions,
  after: number | undefined,
  limit: number,
): Promise<EventRow[]> {
  const { where, values } = conditions(options);
  if (after !== undefined) {
    const bounds = ` and e.position > $${values.length + 1} order by e.position limit $${values.length + 2}`;
    return db.query<EventRow>(`select ${EVENT_COLUMNS} where true${where}${bounds}`, [...values, after, limit]);
  }
  const last = ` order by e.position desc limit $${values.length + 1}`;
  const rows = await db.query<EventRow>(`select ${EVENT_COLUMNS} where true${where}${last}`, [...values, limit]);
  return rows.reverse();
}

/**
 * Prints events of the log, the newest last: a line each, or a JSON object each. Without `after` the last 20 (or `limit`);
 * with it those behind it. Personal fields are opened only when asked for. `follow` goes on until the process is ended.
 */
export function tail(options: TailOptions): Promise<void> {
  return withSealed(async (database) => {
    const show = (rows: EventRow[]): void => {
      for (const row of rows) {
        const event = decoded(row, database, options.personal ?? false);
        print(options.json ? JSON.stringify(event) : readable(event));
      }
    };
    const head = async () =>
      (await database.db.query<{ position: number }>("select position from log.head"))[0]!.position;

    let seen = options.after ?? (await head());
    if (options.after === undefined)
      show((await read(database, options, undefined, options.limit ?? LAST)).filter((row) => row.position <= seen));
    else seen = await showAfter(database, options, show);
    while (options.follow) {
      const rows = await read(database, options, seen, BATCH).catch(tellOnce);
      show(rows);
      seen = rows.at(-1)?.position ?? seen;
      if (rows.length < BATCH) await sleep(FOLLOW_EVERY_MS);
    }
  });
}

/** Prints what is there after a position, to its end or the limit; answers with the last position printed. */
async function showAfter(database: Sealed, options: TailOptions, show: (rows: EventRow[]) => void): Promise<number> {
  let seen = options.after!;
  for (let left = options.limit ?? Infinity; left > 0; ) {
    const wanted = Math.min(BATCH, left);
    const rows = await read(database, options, seen, wanted);
    show(rows);
    seen = rows.at(-1)?.position ?? seen;
    if (rows.length < wanted) break;
    left -= rows.length;
  }
  return seen;
}

let told = false;
function tellOnce(error: unknown): EventRow[] {
  if (!told) process.stderr.write(`${explain(error)}: trying again.\n`);
  told = true;
  return [];
}
