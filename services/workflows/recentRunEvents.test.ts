import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { CommittedCommand } from "../handle.ts";
import { createRecentEnds, createRecentWaits } from "./recentRunEvents.ts";

beforeEach(() => vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => vi.useRealTimers());

const committed = (stream: string, version: number, events: object[]): CommittedCommand =>
  ({ command: { stream, organization_id: "o" }, events, version, position: 1 }) as never;

const completed = { type: "RunCompleted", data: {}, personal: { result: { json: "7" } } };
const failed = { type: "RunFailed", data: {}, personal: { error: { message: "no", line: null } } };

test("the end of a run is known for a second, and until the run is destroyed", () => {
  const ends = createRecentEnds();
  ends.add(committed("run-a", 3, [{ type: "RunCreated" }, completed, { type: "RunSettled" }]));
  ends.add(committed("run-b", 3, [failed]));
  ends.add(committed("run-c", 3, [{ type: "RunContinued", data: {}, personal: {} }]));
  ends.add(committed("run-d", 3, [completed]));
  ends.add(committed("run-d", 4, [{ type: "RunForgotten", data: {} }]));
  expect(["a", "b", "c", "d", "e"].map((id) => ends.find(`run-${id}`))).toEqual([
    completed,
    failed,
    undefined,
    undefined,
    undefined,
  ]);
  vi.advanceTimersByTime(1_001);
  expect(ends.find("run-a")).toBeUndefined();
});

test("the start of a wait is known by its version", () => {
  const waits = createRecentWaits();
  const wait = (key: string) => ({ type: "MessageWaitStarted", data: { key }, personal: { name: "n", match: {} } });
  waits.add(committed("run-a", 5, [wait("first"), { type: "StepCompleted" }, wait("second")]));
  waits.add(committed("message-m", 1, [{ type: "MessagePosted" }]));
  expect([2, 3, 4, 5, 6].map((version) => waits.find("run-a", version)?.data.key)).toEqual([
    undefined,
    "first",
    undefined,
    "second",
    undefined,
  ]);
  vi.advanceTimersByTime(1_001);
  expect(waits.find("run-a", 5)).toBeUndefined();
});

test("long results make room for each other", () => {
  const ends = createRecentEnds();
  const long = { ...completed, personal: { result: { json: "x".repeat(1024 * 1024) } } };
  for (let n = 0; n < 10; n++) ends.add(committed(`run-${n}`, 1, [long]));
  expect(Array.from({ length: 10 }, (_, n) => ends.find(`run-${n}`)).filter((end) => end).length).toBe(3);
});
