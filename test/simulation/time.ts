import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers/promises";
import { START, type World } from "./world.ts";

const realImmediate = setImmediate;

/** Resolves when all code waits for the agenda. */
export const settled = () => new Promise<void>((resolve) => realImmediate(resolve));

/** Replaces the real clock, timers and random numbers by the world's. Returns a function that restores them. */
export function enterTime(world: World): () => void {
  const real = {
    Date,
    setTimeout,
    clearTimeout,
    setInterval,
    clearInterval,
    setImmediate,
    random: Math.random,
    sleep: timers.setTimeout,
  };
  const now = () => START + world.now() + (world.current()?.skew ?? 0);
  class SimulatedDate extends real.Date {
    constructor(...parts: unknown[]) {
      super(...((parts.length === 0 ? [now()] : parts) as [number]));
    }
    static override now = now;
  }
  const handle = (cancel: () => void) => {
    const self = { cancel, ref: () => self, unref: () => self };
    return self;
  };
  const later = (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
    handle(world.after(Math.max(1, ms), () => run(...args)));
  // other files of this process may have left real timers, which still fire
  const cancel = (timer?: { cancel(): void } | NodeJS.Timeout) =>
    timer && "cancel" in timer ? timer.cancel() : real.clearTimeout(timer);
  const again = (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => {
    const self = handle(() => stop());
    let stop = () => {};
    const tick = () => {
      stop = world.after(Math.max(1, ms), () => {
        tick();
        run(...args);
      });
    };
    tick();
    return self;
  };
  const sleep = (ms = 0, value?: unknown, { signal }: { signal?: AbortSignal } = {}) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const stop = world.after(Math.max(1, ms), () => resolve(value));
      signal?.addEventListener("abort", () => {
        stop();
        reject(signal.reason);
      });
    });

  Object.assign(globalThis, {
    Date: SimulatedDate,
    setTimeout: later,
    clearTimeout: cancel,
    setInterval: again,
    clearInterval: cancel,
    setImmediate: (run: (...args: unknown[]) => void, ...args: unknown[]) => handle(world.after(0, () => run(...args))),
  });
  Math.random = world.random.next;
  timers.setTimeout = sleep as never;
  syncBuiltinESMExports();
  return () => {
    const { random, sleep: realSleep, ...globals } = real;
    Object.assign(globalThis, globals);
    Math.random = random;
    timers.setTimeout = realSleep;
    syncBuiltinESMExports();
  };
}
