import type pg from "pg";
import pino from "pino";
import type { EventLog } from "#events/ports.ts";
import type { Recorded } from "#events/envelope.ts";
import { rebuild } from "#infra/postgres/rebuild.ts";
import { hashTables } from "#infra/postgres/tables.ts";
import { projections } from "#projections/index.ts";
import type { Db } from "#projections/projection.ts";
import { different, type Finding } from "./finding.ts";

async function hashes(pool: pg.Pool): Promise<Record<string, string>> {
  const client = await pool.connect();
  try {
    return await hashTables(client, "read");
  } finally {
    client.release();
  }
}

/** I6: every read model is what a rebuild from position 0 makes of the log. */
export async function checkModels(pool: pg.Pool, log: Pick<EventLog, "follow">): Promise<Finding[]> {
  const before = await hashes(pool);
  for (const projection of projections) await rebuild({ pool, log, projection, logger: pino({ level: "silent" }) });
  const after = await hashes(pool);
  return Object.keys({ ...before, ...after })
    .filter((table) => before[table] !== after[table])
    .map((table) => different("I6", `read.${table}`, "is not what a rebuild makes"));
}

const COUNTED = ["TurnCompleted", "TurnFailed", "TurnStopped"];

/** I13: the usage that the read model holds is the sum over the events of threads that stand. */
export async function checkUsage(db: Db, events: Recorded[]): Promise<Finding[]> {
  const gone = new Set(events.filter(({ type }) => type === "ThreadDeleted").map(({ stream }) => stream));
  const tokens = (usage: { prompt_tokens: number; completion_tokens: number }) =>
    usage.prompt_tokens + usage.completion_tokens;
  const inLog = events
    .filter(({ type, stream }) => COUNTED.includes(type) && !gone.has(stream))
    .reduce((sum, { data }) => sum + tokens((data as any).usage), 0);
  const rows = await db.query<{ usage: string }>("select usage from read.turns where usage is not null");
  const inRows = rows.reduce((sum, { usage }) => sum + tokens(JSON.parse(usage)), 0);
  return inLog === inRows ? [] : [different("I13", "usage", `${inLog} tokens in the log, ${inRows} in the read model`)];
}
