import type { JSValueHandle } from "quickjs-wasi";
import { FULFILLED, PENDING, type Execution } from "./execution.ts";
import { createRequestMeter, type RequestLimits } from "./requestMeter.ts";

interface ScriptRunOptions {
  execution: Execution;
  limits: RequestLimits;
  /** The error for a script that waits although none of its requests is pending. */
  stuckError(): Error;
  /** The error for a rejected promise of the script. */
  rejectionError(reason: JSValueHandle): Error;
}

/** One script in a VM: its pending requests, and the wait for its promises. */
export function createScriptRun({ execution, limits, stuckError, rejectionError }: ScriptRunOptions) {
  const meter = createRequestMeter(limits);
  let failure: Error | undefined;
  let hasEnded = false;
  let wake = (): void => {};

  function throwIfFailed(): void {
    if (failure) throw failure;
  }

  return {
    refusal: meter.refusal,
    /** Fails the script. Only the first failure counts. */
    fail(error: Error): void {
      failure ??= error;
      wake();
    },
    /** Later answers are dropped, because another script may be running in the VM by then. */
    end: (): void => void (hasEnded = true),
    /** Keeps a request pending until `answer` resolves to a function that passes the answer to the script. */
    request(size: number, answer: Promise<() => void>): void {
      meter.start(size);
      void answer.then((deliver) => {
        if (hasEnded) return;
        meter.finish(size);
        try {
          execution.inside(deliver);
          execution.drain();
        } catch (error) {
          failure ??= error as Error;
        }
        wake();
      });
    },
    /** The value of a script's promise. Throws if the script fails or waits for something that cannot happen. */
    async settle(promise: JSValueHandle): Promise<JSValueHandle> {
      execution.drain();
      while (promise.promiseState === PENDING) {
        throwIfFailed();
        if (!meter.hasPending()) throw stuckError();
        await new Promise<void>((resolve) => (wake = resolve));
      }
      throwIfFailed();
      const result = await execution.resultOf(promise);
      if (promise.promiseState === FULFILLED) return result;
      throw rejectionError(result);
    },
  };
}

export type ScriptRun = ReturnType<typeof createScriptRun>;
