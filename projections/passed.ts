import type { Hints } from "#events/ports.ts";
import type { Db } from "./projection.ts";

/** The truth is read this often while somebody waits; hints only make it faster. */
const POLL_MS = 50;

/** How long requests are held for read models that fell back; then what is there is served. */
const FALLEN_BACK_MS = 5_000;

export type Passed = (names: string[], position: number, timeoutMs: number) => Promise<boolean>;

/** Where the read models stand, as far as this process knows. */
export interface Standing {
  passed: Passed;
  /** The database may have crashed, and with it the newest rows of read models, which do not wait for the disk. */
  doubt(): void;
  /** Resolves once the read models stand where they were known to stand before a doubt. Throws while the database cannot be asked. */
  regained(): Promise<void>;
}

interface Waiting {
  names: string[];
  position: number;
  done(passed: boolean): void;
}

const pause = () => new Promise((resolve) => setTimeout(resolve, POLL_MS));

/**
 * Read your own writes: `passed` resolves true once those projections stand at or past the position,
 * false when they do not within `timeoutMs`. All who wait share one poll.
 */
export function createStanding({ hints, db }: { hints: Pick<Hints, "onProjected" | "wanted">; db: Db }): Standing {
  const standing = new Map<string, number>();
  const owed = new Map<string, number>();
  let regaining: Promise<void> | undefined;
  const waiting = new Set<Waiting>();
  let polling = false;

  const isPast = ({ names, position }: Pick<Waiting, "names" | "position">) =>
    names.every((name) => (standing.get(name) ?? 0) >= position);
  const note = (name: string, position: number) => standing.set(name, Math.max(position, standing.get(name) ?? 0));
  const wake = () => {
    for (const one of waiting) if (isPast(one)) one.done(true);
  };
  hints.onProjected((name, position) => {
    note(name, position);
    wake();
  });

  async function look(): Promise<void> {
    const rows = await db.query<{ name: string; position: number }>("select name, position from log.checkpoints");
    for (const row of rows) note(row.name, Number(row.position));
    wake();
  }

  async function poll(): Promise<void> {
    if (polling) return;
    polling = true;
    while (waiting.size > 0) {
      await pause();
      // a database that cannot be asked now is asked again; the caller's timeout holds meanwhile
      if (waiting.size > 0) await look().catch(() => {});
    }
    polling = false;
  }

  async function regain(): Promise<void> {
    for (const until = Date.now() + FALLEN_BACK_MS; Date.now() < until; await pause()) {
      await look();
      if ([...owed].every(([name, position]) => isPast({ names: [name], position }))) break;
    }
    owed.clear();
  }

  const passed: Passed = (names, position, timeoutMs) => {
    if (isPast({ names, position })) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => one.done(false), timeoutMs);
      const one: Waiting = {
        names,
        position,
        done(passed) {
          clearTimeout(timer);
          waiting.delete(one);
          resolve(passed);
        },
      };
      waiting.add(one);
      hints.wanted(position);
      void poll();
    });
  };

  return {
    passed,
    doubt() {
      for (const [name, position] of standing) owed.set(name, Math.max(position, owed.get(name) ?? 0));
      standing.clear();
    },
    async regained() {
      if (owed.size === 0) return;
      regaining ??= regain().finally(() => (regaining = undefined));
      await regaining;
    },
  };
}

/** As `createStanding`, for those who do not outlive a crash of the database. */
export const createPassed = (from: Parameters<typeof createStanding>[0]): Passed => createStanding(from).passed;

/** Whether a read model has passed a position, by the database's word. */
export async function hasPassed(db: Db, name: string, position: number): Promise<boolean> {
  const [row] = await db.query<{ position: number }>("select position from log.checkpoints where name = $1", [name]);
  return row !== undefined && row.position >= position;
}
