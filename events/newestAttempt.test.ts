import { expect, test } from "vitest";
import { newestAttempt } from "./newestAttempt.ts";

test("the frames of the newest attempt are found among more than a call takes arguments", () => {
  const frames = Array.from({ length: 300_000 }, (_, n) => ({ attempt: n < 100_000 ? 2 : 1, n }));
  expect(newestAttempt(frames)).toHaveLength(100_000);
  expect(newestAttempt([])).toEqual([]);
});
