import { expect, test, vi } from "vitest";
import { createRecentEvents, decodeRecent, eventPlace } from "./recentEvents.ts";

const AT = new Date("2026-01-01T00:00:00.000Z");
const principal = { type: "system" };
const command = {
  command_id: "c1",
  organization_id: "o1",
  meta: JSON.stringify({ principal, request_id: "r1" }),
  fingerprint: null,
  http: null,
  rejection: null,
};
const committed = (first: number, last: number) => ({ kind: "committed" as const, first, last, at: AT });
const event = (type: string, personal: string | null = null) => ({
  type,
  stream: "run-1",
  version: 1,
  shape: 1,
  data: '{"a":1}',
  personal,
  sealed: null,
  thing: null,
});
const encoded = (...events: ReturnType<typeof event>[]) => ({ command, events, erasures: [] as object[] });
const types = ["A", "B"];

function recentEventsWith(...batches: [first: number, types: string[]][]) {
  const recent = createRecentEvents();
  for (const [first, of] of batches)
    recent.add(encoded(...of.map((type) => event(type))), committed(first, first + of.length - 1));
  const scan = (after: number, limit = 10) => {
    const found = recent.scan(after, types, limit);
    return found && [found.events.map(({ position, type }) => `${position}${type}`).join(" "), found.seen];
  };
  const follow = (after: number, limit = 10) => recent.follow(after, limit)?.map(({ position }) => position);
  return { recent, scan, follow };
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
test("recent events are followed from any position within them, with their personal fields", () => {
  const { recent, follow } = recentEventsWith([5, ["A", "C"]], [7, ["B"]]);
  expect([follow(4), follow(5, 1), follow(6)]).toEqual([[5, 6, 7], [6], [7]]);
  recent.add(encoded(event("A", '{"text":"secret"}')), committed(8, 8));
  const [last] = recent.follow(7, 10)!;
  expect(decodeRecent(last!)).toEqual({
    position: 8,
    stream: "run-1",
    version: 1,
    organization_id: "o1",
    type: "A",
    data: { a: 1 },
    personal: { text: "secret" },
    command_id: "c1",
    recorded_at: AT,
    meta: { principal, request_id: "r1" },
  });
});
test("recent events know their times, and those of no others", () => {
  const { recent } = recentEventsWith([5, ["A", "C"]]);
  expect([4, 5, 6, 7].map(recent.recordedAt)).toEqual([undefined, AT, AT, undefined]);
  expect(createRecentEvents().recordedAt(0)).toBeUndefined();
});
test("recent events know the public fields of each, also from before a commit of another process", () => {
  const recent = createRecentEvents();
  const add = (first: number, version: number, data: string) =>
    recent.add(encoded({ ...event("A"), version, data }), committed(first, first));
  add(5, 1, '{"a":1}');
  add(8, 2, '{"a":2}');
  add(9, 1, '{"a":3}');
  expect([1, 2, 3].map((version) => recent.publicData(eventPlace("run-1", version)))).toEqual([
    '{"a":3}',
    '{"a":2}',
    undefined,
  ]);
});
test("recent events answer nothing that starts before the first or after the last of them", () => {
  const { scan, follow } = recentEventsWith([5, ["A"]]);
  for (const read of [scan, follow]) expect([read(3), read(5), read(9)]).toEqual([undefined, undefined, undefined]);
  expect(createRecentEvents().scan(0, types, 10)).toBeUndefined();
});
test("recent events restart after a commit of another process, and reassigned positions replace earlier events", () => {
  expect(recentEventsWith([5, ["A"]], [8, ["B"]]).scan(4)).toBeUndefined();
  expect(recentEventsWith([5, ["A"]], [8, ["B"]]).scan(7)).toEqual(["8B", 8]);
  expect(recentEventsWith([5, ["A", "A"]], [5, ["B"]]).scan(4)).toEqual(["5B", 5]);
});
test("a commit that destroys keys forgets all recent events, because their personal fields must not be read any more", () => {
  const { recent, follow } = recentEventsWith([5, ["A"]]);
  recent.add({ ...encoded(event("B")), erasures: [{ thing: "turn-1" }] }, committed(6, 6));
  expect([follow(4), follow(5)]).toEqual([undefined, undefined]);
  recent.add(encoded(event("A")), committed(7, 7));
  expect([follow(5), follow(6)]).toEqual([undefined, [7]]);
});
test("a refused command adds no recent events", () => {
  const { recent, scan } = recentEventsWith([5, ["A"]]);
  recent.add(encoded(), committed(0, 0));
  expect(scan(4)).toEqual(["5A", 5]);
});
test("recent events are limited to one second, to a maximum count and to a maximum size", () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const { recent, scan, follow } = recentEventsWith([5, ["A"]]);
  vi.advanceTimersByTime(1_001);
  const first = eventPlace("run-1", 1);
  expect([scan(4), follow(4), recent.recordedAt(5), recent.publicData(first)]).toEqual(Array(4).fill(undefined));
  for (let n = 6; n < 3_000; n++) recent.add(encoded({ ...event("A"), version: n }), committed(n, n));
  expect([first, eventPlace("run-1", 2_999)].map(recent.publicData)).toEqual([undefined, '{"a":1}']);
  expect(scan(5)).toBeUndefined();
  expect(scan(2_998)).toEqual(["2999A", 2_999]);
  const large = "x".repeat(256 * 1024);
  for (let n = 3_000; n < 3_020; n++) recent.add(encoded(event("A", large)), committed(n, n));
  expect([follow(3_000), follow(3_018)]).toEqual([undefined, [3_019]]);
  const wide = `{"a":"${large}"}`;
  for (let n = 3_020; n < 3_040; n++) recent.add(encoded({ ...event("A"), version: n, data: wide }), committed(n, n));
  const places = [3_020, 3_039].map((version) => recent.publicData(eventPlace("run-1", version)));
  expect(places).toEqual([undefined, wide]);
  vi.useRealTimers();
});
