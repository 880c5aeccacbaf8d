import { expect, test } from "vitest";
import type { ReadingProgress } from "#events/readingProgress.ts";
import { followReadings } from "./readingProgress.ts";

type Listener = (stream: string, progress: ReadingProgress) => void;

function openFollower() {
  let [listener, now]: [Listener, number] = [() => {}, 0];
  const find = followReadings(
    (added) => {
      listener = added;
      return () => {};
    },
    () => now,
  );
  const report = (stream: string, pages_read: number) => listener(stream, { pages_read, pages_total: 9 });
  return { find, report, wait: (ms: number) => void (now += ms) };
}

test("the last report of a reading counts until it is 10 s old", () => {
  const { find, report, wait } = openFollower();
  expect(find("document-1")).toBeUndefined();
  report("document-1", 0);
  report("document-2", 8);
  wait(6_000);
  report("document-1", 3);
  wait(6_000);
  expect(find("document-1")).toEqual({ pages_read: 3, pages_total: 9 });
  expect(find("document-2")).toBeUndefined();
});

test("of more readings than are remembered, those with the oldest reports are forgotten", () => {
  const { find, report } = openFollower();
  for (let n = 0; n < 10_000; n++) report(`document-${n}`, 1);
  report("document-0", 2);
  report("document-10000", 1);
  expect(find("document-0")).toMatchObject({ pages_read: 2 });
  expect(find("document-1")).toBeUndefined();
  expect(find("document-2")).toMatchObject({ pages_read: 1 });
});
