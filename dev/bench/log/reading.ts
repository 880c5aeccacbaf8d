import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import pino from "pino";
import type { Hints } from "../../../events/ports.ts";
import type { Keyring } from "../../../events/vault.ts";
import { openKeyring } from "../../../infra/keyring.ts";
import { openLog } from "../../../infra/postgres/log.ts";
import { openPool } from "../../../infra/postgres/pool.ts";
import { createProjector } from "../../../infra/postgres/projector.ts";
import { rebuild } from "../../../infra/postgres/rebuild.ts";
import { projections } from "../../../projections/index.ts";
import { turns } from "../../../projections/turns/project.ts";
import type { Effort } from "../tools/effort.ts";
import { measureCpu } from "../tools/cpuTime.ts";
import { progress } from "../tools/progress.ts";
import { createLog, type Server } from "./database.ts";
import { turnAppend } from "./payload.ts";

const ROUNDS = 3;
const TURNS: Record<Effort, number> = { full: 40_000, quick: 15_000 };
export const EVENTS_PER_TURN = 2;
const BATCH = 1_000;
const SELECT = "select * from log.events where position > $1 order by position limit $2";

export type OpenLog = ReturnType<typeof open>;

const logger = pino({ level: "error" }, pino.destination(2));
const hints: Pick<Hints, "announceProjected" | "onCommitted" | "onRequested"> = {
  announceProjected: () => {},
  onCommitted: () => () => {},
  onRequested: () => () => {},
};

export const open = (url: string, keyring: Keyring) => {
  const pool = openPool(url, { max: 12, name: "bench" });
  return { pool, log: openLog(pool, keyring) };
};

export const openProjector = ({ pool, log }: OpenLog) => createProjector({ pool, log, hints, projections, logger });

/** One way to read the log, with its events per second in each round. */
export interface ReadRates {
  way: "plain SELECT" | "log.follow" | "followed into read models" | "rebuilt into a read model";
  perSecond: number[];
  /** Microseconds of processor time per event, in this process and in PostgreSQL, one figure per round. */
  cpuUs: number[];
}

/** Reads the same log in every way. Each round uses a new copy of the database. */
export const runReading = async (
  server: Server,
  effort: Effort,
): Promise<{ events: number; readings: ReadRates[] }> => {
  const turnCount = TURNS[effort];
  const events = turnCount * EVENTS_PER_TURN;
  const keyring = openKeyring(randomBytes(32));
  const template = await seed(server, keyring, turnCount);
  const ways: [ReadRates["way"], (opened: OpenLog) => Promise<void>][] = [
    ["plain SELECT", (opened) => select(opened, events)],
    ["log.follow", ({ log }) => readAll((after) => log.follow(after, BATCH), events)],
    ["followed into read models", followAll],
    ["rebuilt into a read model", rebuildTurns],
  ];
  const readings = ways.map(([way]): ReadRates => ({ way, perSecond: [], cpuUs: [] }));
  for (let round = 1; round <= ROUNDS; round++) {
    const opened = open(await server.create(`bench_read_${round}`, template), keyring);
    // Loads the copied database into memory, because disk reads are not measured.
    await select(opened, events);
    const digests = new Set<string>();
    for (const [n, [way, read]] of ways.entries()) {
      progress(`round ${round} of ${ROUNDS}: ${way}`);
      const start = performance.now();
      const { cpuMs } = await measureCpu([process.pid], () => read(opened));
      readings[n]?.perSecond.push(events / ((performance.now() - start) / 1000));
      readings[n]?.cpuUs.push((cpuMs / events) * 1000);
      if (way.includes("read model")) digests.add(await digest(opened, turnCount));
    }
    if (digests.size > 1) throw new Error("a rebuilt read model differs from the one it replaced");
    await opened.pool.end();
  }
  return { events, readings };
};

/** A database with a log of complete turns. The checkpoints of its read models stay at the start of the log. */
export const seed = async (server: Server, keyring: Keyring, turnCount: number): Promise<string> => {
  const name = "bench_seed";
  const opened = open(await createLog(server, name), keyring);
  const projector = openProjector(opened);
  await projector.start();
  await projector.stop();
  await Promise.all(
    Array.from({ length: 256 }, async (_, lane) => {
      for (let n = lane; n < turnCount; n += 256) {
        if (n % 2_000 === 0) progress(`writing ${turnCount} turns: ${n}`);
        await opened.log.append(turnAppend(true));
      }
    }),
  );
  await opened.pool.end();
  return name;
};

const readAll = async (read: (after: number) => Promise<{ position: number }[]>, events: number): Promise<void> => {
  let after = 0;
  for (let batch = await read(after); batch.length > 0; batch = await read(after))
    after = batch.at(-1)?.position ?? after;
  if (after !== events) throw new Error(`the last event read is at position ${after} instead of ${events}`);
};

const select = ({ pool }: OpenLog, events: number): Promise<void> =>
  readAll(async (after) => (await pool.query(SELECT, [after, BATCH])).rows, events);

/** The projector follows the whole log into every read model. */
const followAll = async (opened: OpenLog): Promise<void> => {
  const projector = openProjector(opened);
  await projector.start();
  const behind = "select count(*)::int as n from log.checkpoints c, log.head h where c.position < h.position";
  while ((await opened.pool.query(behind)).rows[0].n > 0) await sleep(20);
  await projector.stop();
};

/** Rebuilds the read model of turns next to the live one and swaps them. */
const rebuildTurns = async ({ pool, log }: OpenLog): Promise<void> => {
  await rebuild({ pool, log, projection: turns, logger });
};

/** A digest of the read model. Throws unless it has every turn as completed. */
const digest = async ({ pool }: OpenLog, turnCount: number): Promise<string> => {
  const { rows } = await pool.query(
    "select count(*)::int as n, md5(string_agg(t::text, '' order by id)) as digest from read.turns t where status = 'completed'",
  );
  if (rows[0].n !== turnCount) throw new Error(`the read model has ${rows[0].n} of ${turnCount} turns`);
  return rows[0].digest;
};
