import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import pino from "pino";
import type { Hints, Keyring } from "../../events/ports.ts";
import { openKeyring } from "../../infra/keyring.ts";
import { openLog } from "../../infra/postgres/log.ts";
import { openPool } from "../../infra/postgres/pool.ts";
import { createProjector } from "../../infra/postgres/projector.ts";
import { rebuild } from "../../infra/postgres/rebuild.ts";
import { projections } from "../../projections/index.ts";
import { turns } from "../../projections/turns/project.ts";
import { progress } from "../tools/progress.ts";
import { createLog, type Server } from "./database.ts";
import { turnAppend } from "./payload.ts";

const ROUNDS = 3;
const TURNS = 40_000;
const EVENTS = TURNS * 2;
const BATCH = 1_000;
const SEED = "bench_seed";
const SELECT = "select * from log.events where position > $1 order by position limit $2";

type Opened = ReturnType<typeof open>;

const logger = pino({ level: "error" }, pino.destination(2));
const hints: Pick<Hints, "projected" | "onCommitted" | "onWanted"> = {
  projected: () => {},
  onCommitted: () => () => {},
  onWanted: () => () => {},
};

const open = (url: string, keyring: Keyring) => {
  const pool = openPool(url, { max: 12, name: "bench" });
  return { pool, log: openLog(pool, keyring) };
};

const projectorOf = ({ pool, log }: Opened) => createProjector({ pool, log, hints, projections, logger });

/** Ways to read the log, with the events a second of each round. */
export interface Reading {
  way: "plain SELECT" | "log.follow" | "followed into read models" | "rebuilt into a read model";
  perSecond: number[];
}

/** Reads the same log in every way, each round in a fresh copy of the database. */
export const runReading = async (server: Server): Promise<{ events: number; readings: Reading[] }> => {
  const keyring = openKeyring(randomBytes(32));
  await seed(server, keyring);
  const ways: [Reading["way"], (opened: Opened) => Promise<void>][] = [
    ["plain SELECT", select],
    ["log.follow", ({ log }) => page((after) => log.follow(after, BATCH))],
    ["followed into read models", followAll],
    ["rebuilt into a read model", rebuildTurns],
  ];
  const readings = ways.map(([way]): Reading => ({ way, perSecond: [] }));
  for (let round = 1; round <= ROUNDS; round++) {
    const opened = open(await server.create(`bench_read_${round}`, SEED), keyring);
    // The copy of a database begins on disk; what is compared is reading from memory.
    await select(opened);
    const digests = new Set<string>();
    for (const [n, [way, read]] of ways.entries()) {
      progress(`round ${round} of ${ROUNDS}: ${way}`);
      const start = performance.now();
      await read(opened);
      readings[n]?.perSecond.push(EVENTS / ((performance.now() - start) / 1000));
      if (way.includes("read model")) digests.add(await digest(opened));
    }
    if (digests.size > 1) throw new Error("a rebuilt read model differs from the one it replaced");
    await opened.pool.end();
  }
  return { events: EVENTS, readings };
};

/** A log of whole turns, and read models that stand where it began. */
const seed = async (server: Server, keyring: Keyring): Promise<void> => {
  const opened = open(await createLog(server, SEED), keyring);
  const projector = projectorOf(opened);
  await projector.start();
  await projector.stop();
  await Promise.all(
    Array.from({ length: 256 }, async (_, lane) => {
      for (let n = lane; n < TURNS; n += 256) {
        if (n % 2_000 === 0) progress(`writing ${EVENTS} events: ${n * 2}`);
        await opened.log.append(turnAppend(true));
      }
    }),
  );
  await opened.pool.end();
};

const page = async (read: (after: number) => Promise<{ position: number }[]>): Promise<void> => {
  let after = 0;
  for (let batch = await read(after); batch.length > 0; batch = await read(after))
    after = batch.at(-1)?.position ?? after;
  if (after !== EVENTS) throw new Error(`the last event read is ${after} of ${EVENTS}`);
};

const select = ({ pool }: Opened): Promise<void> =>
  page(async (after) => (await pool.query(SELECT, [after, BATCH])).rows);

/** The projector follows the whole log into every read model. */
const followAll = async (opened: Opened): Promise<void> => {
  const projector = projectorOf(opened);
  await projector.start();
  const behind = "select count(*)::int as n from log.checkpoints c, log.head h where c.position < h.position";
  while ((await opened.pool.query(behind)).rows[0].n > 0) await sleep(20);
  await projector.stop();
};

/** The read model of turns is built anew beside the live one and swapped in. */
const rebuildTurns = async ({ pool, log }: Opened): Promise<void> => {
  await rebuild({ pool, log, projection: turns, logger });
};

/** The read model's content; throws unless every turn is in it, ended. */
const digest = async ({ pool }: Opened): Promise<string> => {
  const { rows } = await pool.query(
    "select count(*)::int as n, md5(string_agg(t::text, '' order by id)) as digest from read.turns t where status = 'completed'",
  );
  if (rows[0].n !== TURNS) throw new Error(`${rows[0].n} of ${TURNS} turns are in the read model`);
  return rows[0].digest;
};
