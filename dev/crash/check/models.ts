import type pg from "pg";
import pino from "pino";
import type { EventLog } from "#events/ports.ts";
import type { RecordedEvent } from "#events/envelope.ts";
import { rebuild } from "#infra/postgres/rebuild.ts";
import { hashReadModels } from "#test/tables.ts";
import { projections } from "#projections/index.ts";
import type { Db } from "#projections/projection.ts";
import { different, type Finding } from "./finding.ts";

async function hashes(pool: pg.Pool): Promise<Record<string, string>> {
  const client = await pool.connect();
  try {
    return await hashReadModels(client);
  } finally {
    client.release();
  }
}

/** I6: every read model equals a rebuild from position 0. */
export async function checkModels(pool: pg.Pool, log: Pick<EventLog, "follow">): Promise<Finding[]> {
  const before = await hashes(pool);
  for (const projection of projections) await rebuild({ pool, log, projection, logger: pino({ level: "silent" }) });
  const after = await hashes(pool);
  return Object.keys({ ...before, ...after })
    .filter((table) => before[table] !== after[table])
    .map((table) => different("I6", `read.${table}`, "is not what a rebuild makes"));
}

const COUNTED = ["TurnCompleted", "TurnFailed", "TurnStopped"];

const tokens = (usage: { prompt_tokens: number; completion_tokens: number }) =>
  usage.prompt_tokens + usage.completion_tokens;
const sum = (numbers: number[]): number => numbers.reduce((all, each) => all + each, 0);

/** I13: the usage read model equals the sum over the events of existing threads. */
async function checkTurns(db: Db, events: RecordedEvent[]): Promise<Finding[]> {
  const gone = new Set(events.filter(({ type }) => type === "ThreadDeleted").map(({ stream }) => stream));
  const inLog = sum(
    events
      .filter(({ type, stream }) => COUNTED.includes(type) && !gone.has(stream))
      .map(({ data }) => tokens((data as any).usage)),
  );
  const rows = await db.query<{ usage: string }>("select usage from read.turns where usage is not null");
  const inRows = sum(rows.map(({ usage }) => tokens(JSON.parse(usage))));
  return inLog === inRows ? [] : [different("I13", "usage", `${inLog} tokens in the log, ${inRows} in the read model`)];
}

/** I13: the usage reported to organizations is the sum over all events, whatever was deleted since. */
async function checkSpent(db: Db, events: RecordedEvent[]): Promise<Finding[]> {
  const ended = new Set(events.filter(({ type }) => COUNTED.includes(type)).map(({ data }) => (data as any).turn_id));
  const inLog = events.map(({ type, data }) => {
    const { usage, units = 0, turn_id } = data as any;
    if (COUNTED.includes(type) || (type === "RoundRequested" && !ended.has(turn_id))) return tokens(usage);
    return units as number;
  });
  const [row] = await db.query<{ spent: number }>(
    "select coalesce(sum(prompt_tokens + completion_tokens + pages), 0)::bigint as spent from read.usage",
  );
  const [before, after] = [sum(inLog), Number(row!.spent)];
  return before === after ? [] : [different("I13", "spent", `${before} in the log, ${after} in the read model`)];
}

export const checkUsage = async (db: Db, events: RecordedEvent[]): Promise<Finding[]> => [
  ...(await checkTurns(db, events)),
  ...(await checkSpent(db, events)),
];
