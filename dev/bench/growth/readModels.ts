import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { openKeyring } from "../../../infra/keyring.ts";
import { startServer } from "../log/database.ts";
import { EVENTS_PER_TURN, open, openProjector, seed, type OpenLog } from "../log/reading.ts";
import { progress } from "../tools/progress.ts";

const followed = async ({ pool }: OpenLog): Promise<number> =>
  (await pool.query("select min(position)::int as position from log.checkpoints")).rows[0].position;

/**
 * The time that the read models take for the last quarter of a log, relative to the second quarter. It shows plans that were cached
 * when tables were empty: the time of a batch grew with the tables (docs/adr/0020-kept-plans-look-rows-up-by-index.md).
 */
export const measureReadModels = async (turns: number): Promise<number> => {
  progress(`read models of ${turns} turns`);
  const server = await startServer();
  try {
    const keyring = openKeyring(randomBytes(32));
    const opened = open(await server.create("bench_growth", await seed(server, keyring, turns)), keyring);
    const projector = openProjector(opened);
    const events = turns * EVENTS_PER_TURN;
    const passed: number[] = [];
    await projector.start();
    for (const quarter of [1, 2, 3, 4]) {
      while ((await followed(opened)) < (events * quarter) / 4) await sleep(5);
      passed.push(performance.now());
    }
    await projector.stop();
    await opened.pool.end();
    const [first, second, third, fourth] = passed as [number, number, number, number];
    return (fourth - third) / (second - first);
  } finally {
    await server.stop();
  }
};
