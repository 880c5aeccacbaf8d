import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createPacer } from "./pacer.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Milliseconds that a follower waits after a batch, while something is committed every 10 ms for so long. */
async function waitAfterBatch(documents: number, commits_ms: number): Promise<number> {
  let commit = (): void => {};
  const onCommitted = (listener: (position: number) => void) => {
    commit = () => listener(1);
    return () => {};
  };
  const pace = createPacer({ onCommitted }, new AbortController().signal);
  commit();
  const first = pace(0);
  await vi.advanceTimersByTimeAsync(1_000);
  await first;
  const timer = setInterval(() => commit(), 10);
  setTimeout(() => clearInterval(timer), commits_ms);
  const began = performance.now();
  const waited = pace(documents).then(() => performance.now() - began);
  await vi.advanceTimersByTimeAsync(10_000);
  return waited;
}

test("after a large batch, documents are gathered until no more are committed", async () => {
  expect(await waitAfterBatch(20, 405)).toBe(450);
});

test("gathering ends after a second, however long it goes on", async () => {
  expect(await waitAfterBatch(20, 3_005)).toBe(1_000);
});

test("a few documents wait for no others", async () => {
  expect(await waitAfterBatch(19, 3_005)).toBe(250);
});
