import type { JSValueHandle, QuickJS } from "quickjs-wasi";
import type { ScriptException } from "./thrown.ts";

/** Values of `promiseState`. */
export const PENDING = 0;
export const FULFILLED = 1;

interface ExecutionOptions {
  vm(): QuickJS;
  /** Whether the script has exceeded its limit. Then `limitError` replaces every exception. */
  isOver(): boolean;
  limitError(): Error;
  /** Converts an exception of the script. */
  scriptError(thrown: ScriptException): Error;
  /** Called before and after each stretch of computation. */
  onEnter?(): void;
  onLeave?(): void;
}

/** Runs a script's code within its limits. Every exception from the VM counts as the script's. */
export function createExecution({ vm, isOver, limitError, scriptError, onEnter, onLeave }: ExecutionOptions) {
  function inside<T>(work: () => T): T {
    onEnter?.();
    try {
      return work();
    } catch (error) {
      throw isOver() ? limitError() : scriptError(error as Error);
    } finally {
      onLeave?.();
    }
  }
  return {
    inside,
    /** Runs all jobs of the VM that are ready. */
    drain(): void {
      inside(() => {
        while (vm().executePendingJobs() > 0);
      });
      if (isOver()) throw limitError();
    },
    call: (guestFunction: JSValueHandle, ...args: JSValueHandle[]): JSValueHandle =>
      inside(() => vm().callFunction(guestFunction, vm().undefined, ...args)),
    /** The value or the rejection reason of a settled promise. */
    async resultOf(promise: JSValueHandle): Promise<JSValueHandle> {
      const outcome = await vm().resolvePromise(promise);
      return "value" in outcome ? outcome.value : outcome.error;
    },
  };
}

export type Execution = ReturnType<typeof createExecution>;
