import type { Hints } from "#events/ports.ts";
import type { Db } from "./projection.ts";

/** The truth is read this often while somebody waits; hints only make it faster. */
const POLL_MS = 50;

export type Passed = (names: string[], position: number, timeoutMs: number) => Promise<boolean>;

interface Waiting {
  names: string[];
  position: number;
  done(passed: boolean): void;
}

/**
 * Read your own writes: `passed` resolves true once those projections stand at or past the position,
 * false when they do not within `timeoutMs`. All who wait share one poll.
 */
export function createPassed({ hints, db }: { hints: Pick<Hints, "onProjected" | "wanted">; db: Db }): Passed {
  const standing = new Map<string, number>();
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

  async function poll(): Promise<void> {
    if (polling) return;
    polling = true;
    while (waiting.size > 0) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      if (waiting.size === 0) break;
      // a database that cannot be asked now is asked again; the caller's timeout holds meanwhile
      const rows = await db
        .query<{ name: string; position: number }>("select name, position from log.checkpoints")
        .catch(() => []);
      for (const row of rows) note(row.name, Number(row.position));
      wake();
    }
    polling = false;
  }

  return (names, position, timeoutMs) => {
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
}
