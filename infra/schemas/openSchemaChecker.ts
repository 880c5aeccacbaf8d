import { Worker } from "node:worker_threads";
import type { SchemaChecker, SchemaViolation } from "#events/schemaChecker.ts";
import type { CheckAnswer, CheckRequest } from "./checkThread.ts";
import { findViolation, isCheap, TOO_SLOW } from "./findViolation.ts";

/** The thread interrupts a check by itself after 250 ms of computing. A thread that misses this deadline is replaced. */
const DEADLINE_MS = 2_000;
/** Enough for an argument of 1 MiB and its errors. */
const THREAD_MEMORY_MB = 128;

/** Runs work when it is the organization's turn to use the thread. */
export type TakeTurns = <T>(organization_id: string, work: () => Promise<T>) => Promise<T>;

/**
 * Cheap checks run at once. All others run in a thread, one at a time, and organizations take turns: a schema written to compute
 * forever delays only checks of its own organization.
 */
export function openSchemaChecker(takeTurns: TakeTurns): SchemaChecker & { close(): Promise<void> } {
  let thread: Worker | undefined;
  let ids = 0;

  function start(): Worker {
    const worker = new Worker(new URL("checkThread.ts", import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: THREAD_MEMORY_MB },
      env: {},
    });
    worker.unref();
    return worker;
  }

  async function checkInThread(schema: unknown, value: unknown): Promise<SchemaViolation | undefined> {
    const worker = (thread ??= start());
    const request: CheckRequest = { id: ids++, schema: JSON.stringify(schema), value: JSON.stringify(value) };
    const answer = await answerFrom(worker, request);
    if (answer) return answer.violation;
    thread = undefined;
    await worker.terminate();
    return TOO_SLOW;
  }

  return {
    async check(organization_id, schema, value) {
      if (isCheap(schema, value)) return findViolation(schema, value);
      return takeTurns(organization_id, () => checkInThread(schema, value));
    },
    close: async () => void (await thread?.terminate()),
  };
}

/** Undefined if the thread died or did not answer in time. */
function answerFrom(worker: Worker, request: CheckRequest): Promise<CheckAnswer | undefined> {
  const { promise, resolve } = Promise.withResolvers<CheckAnswer | undefined>();
  const onMessage = (answer: CheckAnswer): void => {
    if (answer.id === request.id) resolve(answer);
  };
  const giveUp = (): void => resolve(undefined);
  const timer = setTimeout(giveUp, DEADLINE_MS);
  worker.on("message", onMessage).once("error", giveUp).once("exit", giveUp);
  worker.postMessage(request);
  return promise.finally(() => {
    clearTimeout(timer);
    worker.off("message", onMessage).off("error", giveUp).off("exit", giveUp);
  });
}
