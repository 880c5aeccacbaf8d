import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { withTimeout } from "./withTimeout.ts";

test("a result that arrived while the process was busy does not time out", async () => {
  const source = `const { parentPort } = require("node:worker_threads"); parentPort.on("message", () => parentPort.postMessage("here"))`;
  const worker = new Worker(source, { eval: true });
  await once(worker, "online");
  const answered = once(worker, "message");
  worker.postMessage("go");
  const result = withTimeout(answered, 20);
  // blocks this thread for longer than the timeout while the answer arrives
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
  expect(await result).toEqual(["here"]);
  await worker.terminate();
});

test("work that takes longer than the timeout has no result", async () => {
  expect(await withTimeout(sleep(1_000, "late", { ref: false }), 10)).toBeUndefined();
  expect(await withTimeout(Promise.resolve("early"), 10)).toBe("early");
});
