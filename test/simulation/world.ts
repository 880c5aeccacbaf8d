import { AsyncLocalStorage } from "node:async_hooks";
import type { Random } from "../../dev/crash/random.ts";
import { createAgenda } from "./agenda.ts";

/** A process of the simulated deployment. One that has crashed never comes back: a restart is another process. */
export interface Process {
  name: string;
  /** How far its clock is ahead, in milliseconds. */
  skew: number;
  alive: boolean;
  /** Nothing happens in it before this moment. */
  frozenUntil: number;
  onCrash: () => void;
}

/** Probabilities of faults, while faults occur. */
export interface Rates {
  drop: number;
  duplicate: number;
  slow: number;
  /** A process dies just before or just after it sends something. */
  crash: number;
}

export const QUIET: Rates = { drop: 0, duplicate: 0, slow: 0, crash: 0 };

export type World = ReturnType<typeof createWorld>;

export const START = Date.UTC(2026, 0, 1);
const SLOW_MS = 6_000;

/**
 * Simulated time and processes on one agenda, so that the same random choices lead to the same run.
 * Everything that a process waits for belongs to it and ends with it.
 */
export function createWorld(random: Random, rates: Rates) {
  const agenda = createAgenda<{ process: Process | undefined; run: () => void }>();
  const inside = new AsyncLocalStorage<Process | undefined>();
  const trace: string[] = [];
  let now = 0;

  const self = {
    random,
    rates,
    trace,
    now: () => now,
    /** The process that is running now. */
    current: () => inside.getStore(),
    note: (what: string) => void trace.push(`${now} ${inside.getStore()?.name ?? "-"} ${what}`),

    /** Runs something at a time, in a process or outside of all. A process that has died runs nothing. */
    at(moment: number, process: Process | undefined, run: () => void) {
      return agenda.add(Math.max(moment, now), { process, run });
    },
    /** Runs something later in the current process. */
    after: (ms: number, run: () => void) => self.at(now + ms, inside.getStore(), run),
    /** Runs something later, even if the current process has died. */
    outside: (ms: number, run: () => void) => self.at(now + ms, undefined, run),
    sleep: (ms: number) => new Promise<void>((resolve) => self.after(ms, resolve)),

    newProcess: (name: string, skew: number): Process => ({ name, skew, alive: true, frozenUntil: 0, onCrash() {} }),
    crash(process: Process): void {
      if (!process.alive) return;
      process.alive = false;
      trace.push(`${now} ${process.name} dies`);
      process.onCrash();
    },

    /** The random duration of a transmission. */
    transit: () => (random.chance(rates.slow) ? random.int(1, SLOW_MS) : random.int(1, 4)),
    /** Sends something from the current process, which may die just before or just after. A dead process sends nothing. */
    send(effect: () => void): void {
      const process = inside.getStore();
      if (process && (!process.alive || (random.chance(rates.crash) && self.diesBefore(process)))) return;
      effect();
      if (process && random.chance(rates.crash)) self.crash(process);
    },
    diesBefore(process: Process): true {
      self.crash(process);
      return true;
    },

    /** Runs the next action of the agenda; false if there is none. */
    step(): boolean {
      const next = agenda.take();
      if (!next) return false;
      now = next.at;
      const { process, run } = next.what;
      if (process && !process.alive) return true;
      if (process && process.frozenUntil > now) agenda.add(process.frozenUntil, next.what);
      else inside.run(process, run);
      return true;
    },
  };
  return self;
}
