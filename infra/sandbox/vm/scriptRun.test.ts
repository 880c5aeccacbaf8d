import type { JSValueHandle } from "quickjs-wasi";
import { expect, test } from "vitest";
import { FULFILLED, PENDING, type Execution } from "./execution.ts";
import { createScriptRun } from "./scriptRun.ts";

const REJECTED = 2;
const LIMITS = { maxSize: 10, maxPending: 5, maxPendingSize: 50, maxTotal: 5 };
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A run without a VM, and a promise of its script. */
function startRun({ drain = () => {} } = {}) {
  const promise = { promiseState: PENDING } as JSValueHandle & { promiseState: number };
  const execution = {
    inside: (work: () => void) => work(),
    drain,
    resultOf: async () => "result" as unknown as JSValueHandle,
  } as unknown as Execution;
  const run = createScriptRun({
    execution,
    limits: LIMITS,
    stuckError: () => new Error("stuck"),
    rejectionError: (reason) => new Error(`rejected with ${String(reason)}`),
  });
  const settle = (state: number) => () => void (promise.promiseState = state);
  return { run, promise, settle };
}

test("A script settles when the answer to its request settles its promise", async () => {
  const { run, promise, settle } = startRun();
  run.request(1, Promise.resolve(settle(FULFILLED)));
  expect(await run.settle(promise)).toBe("result");
});

test("A script whose promise is rejected fails with that error", async () => {
  const { run, promise, settle } = startRun();
  run.request(1, Promise.resolve(settle(REJECTED)));
  await expect(run.settle(promise)).rejects.toThrow("rejected with result");
});

test("A script that waits without a pending request is stuck", async () => {
  const { run, promise } = startRun();
  run.request(
    1,
    Promise.resolve(() => {}),
  );
  await expect(run.settle(promise)).rejects.toThrow("stuck");
});

test("A script that is failed from outside stops waiting, and the first failure counts", async () => {
  const { run, promise } = startRun();
  run.request(1, new Promise(() => {}));
  const waiting = run.settle(promise);
  run.fail(new Error("cancelled"));
  run.fail(new Error("later"));
  await expect(waiting).rejects.toThrow("cancelled");
});

test("A script fails when it exceeds its limit while it handles an answer", async () => {
  let drains = 0;
  const drain = () => {
    if (++drains === 2) throw new Error("computed for too long");
  };
  const { run, promise, settle } = startRun({ drain });
  run.request(1, Promise.resolve(settle(FULFILLED)));
  await expect(run.settle(promise)).rejects.toThrow("computed for too long");
});

test("An answer that arrives after the end of its script is dropped", async () => {
  const { run, promise, settle } = startRun();
  const answer = Promise.withResolvers<() => void>();
  run.request(1, answer.promise);
  run.end();
  answer.resolve(settle(FULFILLED));
  await settled();
  expect(promise.promiseState).toBe(PENDING);
});
