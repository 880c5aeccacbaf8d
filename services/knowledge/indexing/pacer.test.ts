import { expect, onTestFinished, test } from "vitest";
import { createPacer, gatherTimeLeft } from "./pacer.ts";

test.each([
  ["a few documents gather no others", { documents: 19, hintedAt: 1_000, now: 1_000 }, 0],
  ["many gather until nothing was committed for 50 ms", { documents: 20, hintedAt: 1_400, now: 1_410 }, 40],
  ["many begin once it is quiet", { documents: 20, hintedAt: 1_400, now: 1_450 }, 0],
  ["many gather for a second at most", { documents: 200, hintedAt: 1_990, now: 1_990 }, 10],
])("%s", (_, gathering, left) => {
  expect(gatherTimeLeft({ endedAt: 1_000, ...gathering })).toBe(left);
});

test("a large batch begins only when documents are no longer committed", async () => {
  let commit = (): void => {};
  const ending = new AbortController();
  const onCommitted = (listener: (position: number) => void) => {
    commit = () => listener(1);
    return () => {};
  };
  const pace = createPacer({ onCommitted }, ending.signal);
  commit();
  await pace(0);
  let commits = 0;
  const timer = setInterval(() => {
    commit();
    commits += 1;
    if (commits === 10) clearInterval(timer);
  }, 10);
  onTestFinished(() => {
    clearInterval(timer);
    ending.abort();
  });
  await pace(20);
  expect(commits).toBe(10);
});
