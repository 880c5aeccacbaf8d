import { createHash } from "node:crypto";
import type { Db } from "#projections/projection.ts";

/** The chain's first hash. A migration puts it into the empty log's head. */
export const GENESIS = createHash("sha256").update("assistant-platform log").digest("hex");
/** An event can have 256 KiB, twice that as hex. More of them would not fit into one text, as `svc log export` writes it. */
const BATCH = 500;

/** The fields covered by an event's hash; exports contain the same. `sealed`: hex, null without personal fields. */
export interface ChainedRow {
  position: number;
  stream: string;
  version: number;
  organization_id: string;
  type: string;
  shape: number;
  command_id: string;
  /** Microseconds since 1970, as text because a double cannot represent all of them exactly. */
  recorded_us: string;
  meta: string;
  data: string;
  thing: string | null;
  sealed: string | null;
  hash: string;
}

export const CHAINED_ROWS = `
  select position, stream, version, organization_id, type, shape, command_id,
    ((extract(epoch from recorded_at) * 1000000)::bigint)::text as recorded_us, meta, data, thing, encode(sealed, 'hex') as sealed, encode(hash, 'hex') as hash
  from log.events where position > $1 and position <= $2 order by position limit ${BATCH}`;

/** The chain's next hash (hex): SHA-256 of the previous hash and all fields of the event. */
export function linkHash(previous: string, row: ChainedRow): string {
  const line = [
    row.position,
    row.stream,
    row.version,
    row.organization_id,
    row.type,
    row.shape,
    row.command_id,
    row.recorded_us,
    row.meta,
    row.data,
    row.thing ?? "",
  ].join("\n");
  const hash = createHash("sha256").update(Buffer.from(previous, "hex")).update(`${line}\n`);
  return (row.sealed === null ? hash : hash.update(Buffer.from(row.sealed, "hex"))).digest("hex");
}

export interface ChainTip {
  position: number;
  hash: string;
}

/** The chain breaks at `position`: an event was altered, removed, or inserted. */
export class BrokenChain extends Error {
  readonly position: number;
  constructor(position: number, problem: string) {
    super(`position ${position}: ${problem}`);
    this.name = "BrokenChain";
    this.position = position;
  }
}

/** The tip after one more row. Throws BrokenChain if the row does not follow. */
export function nextChainTip(tip: ChainTip, row: ChainedRow): ChainTip {
  const position = Number(row.position);
  if (position !== tip.position + 1) throw new BrokenChain(tip.position + 1, "the event is missing");
  const hash = linkHash(tip.hash, row);
  // a line feed inside a field could move the boundary between two fields without changing the hash
  const hasLineFeed = [row.stream, row.type, row.command_id, row.meta, row.data, row.thing ?? ""].some((field) =>
    field.includes("\n"),
  );
  if (hasLineFeed || hash !== row.hash)
    throw new BrokenChain(position, `${row.type} of ${row.stream} is not what was written`);
  return { position, hash };
}

/**
 * Recomputes the hash chain over the whole log, outside the database, and compares it with the head row. Returns the tip. If its
 * hash is stored elsewhere, it later proves that nothing up to there was altered or removed.
 */
export async function verifyLog(
  db: Db,
  onProgress: (done: number, of: number) => void,
  onRow: (row: ChainedRow) => void = () => undefined,
): Promise<ChainTip> {
  const [head] = await db.query<{ position: number; hash: string }>(
    "select position, encode(hash, 'hex') as hash from log.head",
  );
  if (!head) throw new BrokenChain(0, "the log has no head row");
  let tip: ChainTip = { position: 0, hash: GENESIS };
  for (let rows: ChainedRow[] = []; ; ) {
    rows = await db.query<ChainedRow>(CHAINED_ROWS, [tip.position, head.position]);
    for (const row of rows) {
      tip = nextChainTip(tip, row);
      onRow(row);
    }
    onProgress(tip.position, head.position);
    if (rows.length < BATCH) break;
  }
  if (tip.position < head.position)
    throw new BrokenChain(tip.position + 1, `the log is truncated: its head is at ${head.position}`);
  const [beyond] = await db.query<{ position: number }>(
    "select position from log.events where position > $1 order by position limit 1",
    [head.position],
  );
  const [now] = await db.query<{ position: number }>("select position from log.head");
  if (beyond && beyond.position > now!.position)
    throw new BrokenChain(beyond.position, "the event is beyond the log's head");
  if (tip.hash !== head.hash) throw new BrokenChain(tip.position, "the head has another hash than the last event");
  return tip;
}
