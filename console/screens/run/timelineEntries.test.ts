import { expect, test } from "vitest";
import type { Run } from "../../api/run.ts";
import { boundsOf, listEntries } from "./timelineEntries.ts";

const runOf = (steps: number, waits: [key: string, steps_before: number][]) =>
  ({ counts: { steps }, waits: waits.map(([key, steps_before]) => ({ key, steps_before })) }) as unknown as Run;
const named = (run: Run) => listEntries(run).map(({ place, wait }) => wait?.key ?? place);

test("steps and waits are listed in the order in which they began", () => {
  expect(named(runOf(3, [["wait", 2]]))).toEqual([0, 1, "wait", 2]);
  const waits: [string, number][] = [
    ["first", 0],
    ["same", 0],
    ["last", 2],
  ];
  expect(named(runOf(2, waits))).toEqual(["first", "same", 0, 1, "last"]);
});

test("a wait after steps that are not yet loaded is the last row", () => {
  expect(named(runOf(1, [["wait", 5]]))).toEqual([0, "wait"]);
});

test("the timeline of a live run ends at the current time", () => {
  const created_at = "2026-01-01T00:00:00Z";
  const now = Date.parse(created_at) + 5_000;
  expect(boundsOf({ created_at, completed_at: null }, now)).toEqual({ from: now - 5_000, to: now });
  expect(boundsOf({ created_at, completed_at: created_at }, now).to).toBe(now - 4_999);
});
