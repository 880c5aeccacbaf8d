import { expect, test } from "vitest";
import { createRecentHistories } from "./recentHistories.ts";

const history = (size: number) => ({ version: 3, turns: [], size });

test("an organization's histories push out its own oldest, and none of another's", () => {
  const recent = createRecentHistories();
  recent.put("other", "theirs", history(1_500_000));
  for (const thread of ["a", "b", "c"]) recent.put("one", thread, history(900_000));
  expect(["a", "b", "c", "theirs"].filter((thread) => recent.find(thread))).toEqual(["b", "c", "theirs"]);
});

test("all together have a limit, and the one used longest ago is dropped first", () => {
  const recent = createRecentHistories();
  for (const n of [1, 2, 3, 4, 5]) recent.put(`organization ${n}`, `thread ${n}`, history(1_900_000));
  expect(recent.find("thread 1")).toBeUndefined();
  expect(recent.find("thread 2")).toBeDefined();
  recent.put("organization 2", "thread 2", history(1_000));
  recent.put("organization 6", "thread 6", history(1_900_000));
  expect(recent.find("thread 2")).toBeDefined();
  expect(recent.find("thread 3")).toBeDefined();
});

test("a history that is too large is read each time", () => {
  const recent = createRecentHistories();
  recent.put("one", "a", history(10));
  recent.put("one", "a", history(2_000_001));
  expect(recent.find("a")).toBeUndefined();
});
