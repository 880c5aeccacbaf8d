import { expect, onTestFinished, test } from "vitest";
import { createPacer } from "./pacer.ts";

/** A pacer that has just let a batch begin, while something is committed every 10 ms for so long. */
async function openPacer(commits_ms: number): Promise<(documents: number) => Promise<number>> {
  let commit = (): void => {};
  const ending = new AbortController();
  const onCommitted = (listener: (position: number) => void) => {
    commit = () => listener(1);
    return () => {};
  };
  const pace = createPacer({ onCommitted }, ending.signal);
  commit();
  await pace(0);
  const timer = setInterval(() => commit(), 10);
  setTimeout(() => clearInterval(timer), commits_ms);
  onTestFinished(() => {
    clearInterval(timer);
    ending.abort();
  });
  return async (documents) => {
    const began = performance.now();
    await pace(documents);
    return performance.now() - began;
  };
}

test("after a large batch, documents are gathered until no more are committed", async () => {
  const waited = await (await openPacer(400))(20);
  expect(waited).toBeGreaterThan(350);
  expect(waited).toBeLessThan(950);
});

test("gathering ends after a second, however long it goes on", async () => {
  const waited = await (await openPacer(6_000))(20);
  expect(waited).toBeGreaterThan(900);
  expect(waited).toBeLessThan(5_000);
});

test("a few documents wait for no others", async () => {
  expect(await (await openPacer(6_000))(19)).toBeLessThan(900);
});
