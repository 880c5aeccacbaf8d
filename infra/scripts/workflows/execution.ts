import type { JSValueHandle } from "quickjs-wasi";
import type { Realm } from "./realm.ts";

/** As QuickJS counts the states of a promise. */
export const PENDING = 0;
export const FULFILLED = 1;

/** Processor time of this thread, in milliseconds: a busy machine takes none of it away. */
export const processorMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

interface Bounds {
  isOver(): boolean;
  /** What is thrown when it is over. */
  tooLong(): Error;
  /** What is thrown of anything else that comes out of the script. */
  failureOf(thrown: { name?: string; message: string; stack?: string | null }): Error;
  /** Before and after each time that the script computes. */
  enter?(): void;
  leave?(): void;
}

/** Lets a script compute within its bounds: whatever comes out of it is the script's. */
export function createExecution(realm: Realm, { isOver, tooLong, failureOf, enter, leave }: Bounds) {
  function inside<T>(work: () => T): T {
    enter?.();
    try {
      return work();
    } catch (error) {
      throw isOver() ? tooLong() : failureOf(error as Error);
    } finally {
      leave?.();
    }
  }
  return {
    inside,
    /** Runs everything that has become possible. */
    drain(): void {
      inside(() => {
        while (realm.vm().executePendingJobs() > 0);
      });
      if (isOver()) throw tooLong();
    },
    call: (guest: JSValueHandle, ...args: JSValueHandle[]): JSValueHandle =>
      inside(() => realm.vm().callFunction(guest, realm.vm().undefined, ...args)),
    /** What a promise that is settled came to. */
    async resultOf(promise: JSValueHandle): Promise<JSValueHandle> {
      const outcome = await realm.vm().resolvePromise(promise);
      return "value" in outcome ? outcome.value : outcome.error;
    },
  };
}
