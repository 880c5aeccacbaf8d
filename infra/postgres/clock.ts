import type { Logger } from "pino";
import type { Gate } from "#events/ports.ts";
import type { Db } from "#projections/projection.ts";
import { createGate } from "./gate.ts";
import { runPeriodically } from "./runPeriodically.ts";

const EVERY_MS = 2_000;
/** Interval at which a jump of the local clock is detected without the database. */
const LOOK_MS = 100;
/** Maximum age of a comparison. Before that, only a more exact one replaces it. Two clocks drift apart by some milliseconds a minute. */
const MAX_ANCHOR_AGE_MS = 60_000;

interface Options {
  db: Db;
  logger: Logger;
  /** Maximum difference. Deadlines and leases are times written by other machines, so a difference counts as time lost or won. */
  max_offset_ms: number;
  /** Called when the clock is found to be off. */
  onOff(): void;
  now?(): number;
}

/** The clock of a process. The gate is closed while it differs from the database's. */
export interface Clock extends Gate {
  /**
   * The time to compare with times of the log or of other machines, in epoch milliseconds. The local time while it agrees with the
   * database's; otherwise the database's at the last comparison plus the elapsed time (docs/adr/0075-wrong-clocks-do-no-harm.md).
   */
  now(): number;
}

/** The database's time at a moment of the local monotonic clock, within `error_ms`. */
interface Anchor {
  database_ms: number;
  at: number;
  error_ms: number;
}

const timeFrom = ({ database_ms, at }: Anchor): number => database_ms + performance.now() - at;

/** The more exact of two comparisons, unless the older one is outdated or wrong: sleeping stops the monotonic clock. */
function chooseAnchor(old: Anchor | undefined, next: Anchor): Anchor {
  if (!old || next.error_ms <= old.error_ms || next.at - old.at > MAX_ANCHOR_AGE_MS) return next;
  const difference = Math.abs(timeFrom(old) - timeFrom(next));
  return difference > old.error_ms + next.error_ms ? next : old;
}

async function readAnchor(db: Db): Promise<Anchor> {
  const began = performance.now();
  const [row] = await db.query<{ ms: number }>("select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms");
  const took = performance.now() - began;
  return { database_ms: Number(row!.ms), at: began + took / 2, error_ms: took / 2 };
}

/** How far the local clock is ahead of the database's, within `error_ms`. */
export async function measureClock(db: Db, own = () => Date.now()): Promise<{ offset_ms: number; error_ms: number }> {
  const anchor = await readAnchor(db);
  return { offset_ms: Math.round(own() - timeFrom(anchor)), error_ms: anchor.error_ms };
}

/**
 * Compares the local clock with the database's. It is off if no moment within the round trip explains the difference, so that a
 * slow connection hides no wrong clock. Resolves after the first comparison.
 */
export async function watchClock({
  db,
  logger,
  max_offset_ms,
  onOff,
  now: own = () => Date.now(),
}: Options): Promise<Clock & { stop(): Promise<void> }> {
  const { set, ...gate } = createGate();
  const stopped = new AbortController();
  let anchor = await readAnchor(db);

  /** Once the clock is off, the best estimate must agree before it counts as right again. */
  const look = (): boolean => {
    const offset_ms = Math.round(own() - timeFrom(anchor));
    const tolerance = max_offset_ms + (gate.isOpen() ? anchor.error_ms : 0);
    const isRight = Math.abs(offset_ms) <= tolerance;
    if (!set(isRight)) return isRight;
    if (isRight) logger.info({ offset_ms }, "clock agrees with the database again");
    else {
      logger.error({ offset_ms }, "clock differs from the database's, taking no work");
      onOff();
    }
    return isRight;
  };
  const compare = async (): Promise<void> => {
    anchor = chooseAnchor(anchor, await readAnchor(db));
    look();
  };
  const now = (): number => (look() ? own() : Math.round(timeFrom(anchor)));

  look();
  const looking = setInterval(look, LOOK_MS).unref();
  const watching = runPeriodically(
    EVERY_MS,
    compare,
    (err) => logger.debug({ err }, "clock not compared"),
    stopped.signal,
  );
  return {
    isOpen: look,
    onChange: gate.onChange,
    now,
    async stop() {
      clearInterval(looking);
      stopped.abort();
      await watching;
    },
  };
}
