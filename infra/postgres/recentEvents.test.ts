import { expect, test, vi } from "vitest";
import { createRecentEvents } from "./recentEvents.ts";

const AT = new Date("2026-01-01T00:00:00.000Z");
const by = { organization_id: "o1" };
const committed = (first: number, last: number) => ({ kind: "committed" as const, first, last, at: AT });
const event = (type: string) => ({ type, stream: "run-1", version: 1, data: '{"a":1}' });
const types = ["A", "B"];

function recentEventsWith(...batches: [first: number, types: string[]][]) {
  const recent = createRecentEvents();
  for (const [first, of] of batches) recent.add({ events: of.map(event) }, by, committed(first, first + of.length - 1));
  const scan = (after: number, limit = 10) => {
    const found = recent.scan(after, types, limit);
    return found && [found.events.map(({ position, type }) => `${position}${type}`).join(" "), found.seen];
  };
  return { recent, scan };
}

test("recent events are scanned from any position within them, by type", () => {
  const { recent, scan } = recentEventsWith([5, ["A", "C"]], [7, ["B"]]);
  expect(scan(4)).toEqual(["5A 7B", 7]);
  expect(scan(5)).toEqual(["7B", 7]);
  expect(scan(4, 1)).toEqual(["5A", 5]);
  expect(recent.scan(6, types, 10)).toEqual({
    events: [
      {
        position: 7,
        type: "B",
        stream: "run-1",
        version: 1,
        organization_id: "o1",
        recorded_at: AT.toISOString(),
        traceparent: undefined,
        data: { a: 1 },
      },
    ],
    seen: 7,
  });
});
test("recent events know their times, and those of no others", () => {
  const { recent } = recentEventsWith([5, ["A", "C"]]);
  expect([4, 5, 6, 7].map(recent.recordedAt)).toEqual([undefined, AT, AT, undefined]);
  expect(createRecentEvents().recordedAt(0)).toBeUndefined();
});
test("recent events do not answer a scan that starts before the first or after the last of them", () => {
  const { scan } = recentEventsWith([5, ["A"]]);
  expect([scan(3), scan(5), scan(9)]).toEqual([undefined, undefined, undefined]);
  expect(createRecentEvents().scan(0, types, 10)).toBeUndefined();
});
test("recent events restart after a commit of another process, and reassigned positions replace earlier events", () => {
  expect(recentEventsWith([5, ["A"]], [8, ["B"]]).scan(4)).toBeUndefined();
  expect(recentEventsWith([5, ["A"]], [8, ["B"]]).scan(7)).toEqual(["8B", 8]);
  expect(recentEventsWith([5, ["A", "A"]], [5, ["B"]]).scan(4)).toEqual(["5B", 5]);
});
test("a refused command adds no recent events", () => {
  const { recent, scan } = recentEventsWith([5, ["A"]]);
  recent.add({ events: [] }, by, committed(0, 0));
  expect(scan(4)).toEqual(["5A", 5]);
});
test("recent events are limited to one second and to a maximum count", () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const { recent, scan } = recentEventsWith([5, ["A"]]);
  vi.advanceTimersByTime(1_001);
  expect([scan(4), recent.recordedAt(5)]).toEqual([undefined, undefined]);
  for (let n = 6; n < 3_000; n++) recent.add({ events: [event("A")] }, by, committed(n, n));
  expect(scan(5)).toBeUndefined();
  expect(scan(2_998)).toEqual(["2999A", 2_999]);
  vi.useRealTimers();
});
