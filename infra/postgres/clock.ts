import type { Logger } from "pino";
import type { Gate } from "#events/ports.ts";
import type { Db } from "#projections/projection.ts";
import { createGate } from "./gate.ts";
import { repeat } from "./repeat.ts";

const EVERY_MS = 2_000;
/** An answer that took longer says too little about the time. */
const MAX_ROUND_TRIP_MS = 500;

interface Options {
  db: Db;
  logger: Logger;
  /** Deadlines and leases are times that another machine wrote, so that a difference counts as time lost or won. */
  max_offset_ms: number;
  /** Called when the clock is found to be off. */
  onOff(): void;
  now?(): number;
}

/**
 * Compares this machine's clock with the database's. The gate is closed while they differ by more: the process
 * would take living work for overdue, and drop commands that have just been sent. Resolves after the first comparison.
 */
export async function watchClock({
  db,
  logger,
  max_offset_ms,
  onOff,
  now = Date.now,
}: Options): Promise<Gate & { stop(): Promise<void> }> {
  const { set, ...gate } = createGate();
  const stopped = new AbortController();

  const compare = async (): Promise<void> => {
    const began = performance.now();
    const [row] = await db.query<{ ms: number }>("select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms");
    const took = performance.now() - began;
    if (took > MAX_ROUND_TRIP_MS) return;
    const offset_ms = Math.round(now() - took / 2 - Number(row!.ms));
    const isRight = Math.abs(offset_ms) <= max_offset_ms;
    if (!set(isRight)) return;
    if (isRight) logger.info({ offset_ms }, "clock agrees with the database again");
    else {
      logger.error({ offset_ms }, "clock differs from the database's, taking no work");
      onOff();
    }
  };

  await compare();
  const watching = repeat(EVERY_MS, compare, (err) => logger.debug({ err }, "clock not compared"), stopped.signal);
  return {
    ...gate,
    async stop() {
      stopped.abort();
      await watching;
    },
  };
}
