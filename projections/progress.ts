import { Unavailable, type Hints } from "#events/ports.ts";
import type { Db } from "./projection.ts";

/** Interval at which the checkpoints are read while somebody waits. Hints only make waiting shorter. */
const POLL_MS = 50;

/** How long requests wait for read models that lost rows. Afterwards they read what is there. */
const MAX_RECOVERY_MS = 5_000;

/**
 * Resolves true once the projections include the events up to a position, or false after `timeoutMs`. Also false once no projection
 * has advanced for `stallMs`, if given: then no projector runs.
 */
export type WaitForProjections = (
  names: string[],
  position: number,
  timeoutMs: number,
  stallMs?: number,
) => Promise<boolean>;

/** How far the projections have followed the log, as this process knows. */
export interface ProjectionProgress {
  /** For reading your own writes. All waiters share one poll. */
  waitFor: WaitForProjections;
  /** Call it if the database may have crashed: it can lose the newest rows of read models, which are not flushed at commit. */
  invalidate(): void;
  /**
   * Resolves once the read models are back at the positions known before `invalidate`. Throws Unavailable if that takes longer than
   * `within_ms`, or if the database is unavailable.
   */
  recovered(within_ms: number): Promise<void>;
}

interface Target {
  names: string[];
  position: number;
}

interface Waiter extends Target {
  finish(reached: boolean): void;
}

const pause = () => new Promise((resolve) => setTimeout(resolve, POLL_MS));

const raise = (positions: Map<string, number>, name: string, position: number) =>
  positions.set(name, Math.max(position, positions.get(name) ?? 0));

/** Follows the positions of the read models by hints, and by polling while somebody waits. */
export function trackProgress(options: { hints: Pick<Hints, "onProjected" | "requestProjected">; db: Db }) {
  const { hints, db } = options;
  const known = new Map<string, number>();
  const waiters = new Set<Waiter>();
  const isReached = ({ names, position }: Target) => names.every((name) => (known.get(name) ?? 0) >= position);
  let movedAt = 0;
  const note = (reports: { name: string; position: number }[]) => {
    for (const { name, position } of reports) {
      if (!isReached({ names: [name], position: Number(position) })) movedAt = performance.now();
      raise(known, name, Number(position));
    }
    for (const waiter of waiters) if (isReached(waiter)) waiter.finish(true);
  };
  hints.onProjected((name, position) => note([{ name, position }]));
  const read = async () => note(await db.query("select name, position from log.checkpoints"));
  const poll = createPoll(() => waiters.size > 0, read);
  const recovery = createRecovery(known, isReached, read);

  const progress: ProjectionProgress = {
    waitFor(names, position, timeoutMs, stallMs = timeoutMs) {
      if (isReached({ names, position })) return Promise.resolve(true);
      const reached = addWaiter(waiters, { names, position }, { timeoutMs, stallMs, movedAt: () => movedAt });
      hints.requestProjected(position);
      void poll();
      return reached;
    },
    invalidate: recovery.begin,
    recovered: recovery.finished,
  };
  return progress;
}

interface Patience {
  timeoutMs: number;
  stallMs: number;
  /** When a projection advanced last (performance.now()). */
  movedAt(): number;
}

function addWaiter(waiters: Set<Waiter>, target: Target, { timeoutMs, stallMs, movedAt }: Patience): Promise<boolean> {
  return new Promise((resolve) => {
    const began = performance.now();
    let timer: NodeJS.Timeout;
    const waiter: Waiter = {
      ...target,
      finish(reached) {
        clearTimeout(timer);
        waiters.delete(waiter);
        resolve(reached);
      },
    };
    const check = (): void => {
      const now = performance.now();
      const left = Math.min(began + timeoutMs, Math.max(began, movedAt()) + stallMs) - now;
      if (left <= 0) waiter.finish(false);
      else timer = setTimeout(check, Math.ceil(left));
    };
    waiters.add(waiter);
    check();
  });
}

function createPoll(isNeeded: () => boolean, read: () => Promise<void>): () => Promise<void> {
  let isPolling = false;
  return async () => {
    if (isPolling) return;
    isPolling = true;
    while (isNeeded()) {
      await pause();
      // A failed read is repeated until the waiters time out.
      if (isNeeded()) await read().catch(() => {});
    }
    isPolling = false;
  };
}

function createRecovery(known: Map<string, number>, isReached: (target: Target) => boolean, read: () => Promise<void>) {
  const lost = new Map<string, number>();
  let running: Promise<void> | undefined;
  const catchUp = async () => {
    for (const until = performance.now() + MAX_RECOVERY_MS; performance.now() < until; await pause()) {
      await read();
      if ([...lost].every(([name, position]) => isReached({ names: [name], position }))) break;
    }
    lost.clear();
  };
  return {
    begin() {
      for (const [name, position] of known) raise(lost, name, position);
      known.clear();
    },
    async finished(within_ms: number) {
      if (lost.size === 0) return;
      running ??= catchUp().finally(() => (running = undefined));
      const { promise: late, reject } = Promise.withResolvers<never>();
      const refusal = new Unavailable("The read models are not back yet.");
      const timer = setTimeout(() => reject(refusal), within_ms);
      await Promise.race([running, late]).finally(() => clearTimeout(timer));
    },
  };
}

/** Whether all of these read models include the events up to a position, read from the database. */
export async function hasProjected(db: Db, names: string[], position: number): Promise<boolean> {
  const reached = await db.query("select name from log.checkpoints where name = any ($1) and position >= $2", [
    names,
    position,
  ]);
  return reached.length === names.length;
}
