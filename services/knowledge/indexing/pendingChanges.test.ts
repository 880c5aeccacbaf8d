import { expect, test } from "vitest";
import type { PublicEvent } from "#events/ports.ts";
import { createPendingChanges } from "./pendingChanges.ts";
import { readChanges } from "./readChanges.ts";

const changed = (id: number, position: number, organization_id = "o1", type = "DocumentChanged"): PublicEvent => ({
  stream: `document-${id}`,
  organization_id,
  type,
  position,
  data: {},
});
const many = (count: number, first = 1, organization?: string): PublicEvent[] =>
  Array.from({ length: count }, (_, n) => changed(first + n, first + n, organization));
const streams = (...ids: number[]): Set<string> => new Set(ids.map((id) => `document-${id}`));
const positions = (events: PublicEvent[]): number[] => events.map(({ position }) => position);

/** A log with these events. `scanned`: the scans of one organization. */
function logOf(events: PublicEvent[]) {
  const scanned: string[] = [];
  return {
    scanned,
    async scan(after: number, types: string[], limit: number, organization?: string) {
      if (organization !== undefined) scanned.push(organization);
      const found = events
        .filter(({ position, type }) => position > after && types.includes(type))
        .filter(({ organization_id }) => organization === undefined || organization_id === organization)
        .slice(0, limit)
        .map((event) => ({ ...event, version: 1, recorded_at: "" }));
      const seen = found.length === limit ? found.at(-1)!.position : events.at(-1)!.position;
      return { events: found, seen };
    },
  };
}

test("what does not fit is planned again until it does, and holds the checkpoint back", () => {
  const { add, settle, next, hasAny, firstPosition } = createPendingChanges();
  const events = [changed(1, 11), changed(2, 12), changed(3, 13)];
  add(events);
  expect(next()).toEqual(events);
  settle(next(), streams(2, 3));
  expect([next(), firstPosition()]).toEqual([events.slice(1), 12]);
  settle(next(), streams(3));
  expect([next(), firstPosition()]).toEqual([events.slice(2), 13]);
  settle(next(), streams());
  expect([next(), hasAny(), firstPosition()]).toEqual([[], false, Infinity]);
});

test("a document that changes again and again waits once", () => {
  const { add, settle, next } = createPendingChanges();
  for (let position = 1; position <= 50; position++) {
    add([changed(1, position)]);
    settle(next(), streams(1));
  }
  expect(next()).toEqual([changed(1, 50)]);
  // a newer change came beside the one that was planned
  settle([changed(1, 49)], streams());
  expect(next()).toEqual([changed(1, 50)]);
});

test("deletions and the ends of indexing wait for nothing and are planned once", () => {
  const { add, settle, next } = createPendingChanges();
  const [indexed, deleted] = [changed(1, 1_001, "o1", "DocumentIndexed"), changed(7, 1_002, "o1", "DocumentDeleted")];
  add([...many(1_000), indexed, deleted]);
  expect(next().slice(-2)).toEqual([indexed, deleted]);
  settle(next(), streams(1, 7));
  expect(next()).not.toContainEqual(indexed);
  expect(next()).not.toContainEqual(deleted);
});

test("organizations take turns, whatever the others have", () => {
  const { add, settle, next } = createPendingChanges();
  add([...many(2_000), ...many(3, 5_000, "o2")]);
  expect(next()).toHaveLength(500);
  expect(positions(next()).slice(-4)).toEqual([497, 5_000, 5_001, 5_002]);
  settle(next(), streams());
  // more organizations than fit into a round
  const others = Array.from({ length: 700 }, (_, n) => changed(9_000 + n, 9_000 + n, `p${n}`));
  add(others);
  settle(next(), streams(...others.map((_, n) => 9_000 + n)));
  const second = positions(next());
  expect(others.slice(-100).every(({ position }) => second.includes(position))).toBe(true);
});

test("beyond the limit only the organization with the most drops events, and reads them again from the log", async () => {
  const pending = createPendingChanges(700);
  const others = [changed(3_001, 3_001, "o2"), changed(3_002, 3_002, "o3")];
  const last = changed(3_003, 3_003);
  const log = logOf([...many(3_000), ...others, changed(5, 3_000.5, "o1", "DocumentDeleted"), last]);
  const done = new Set<number>();
  let seen = 0;
  for (let round = 0; round < 20; round++) {
    ({ seen } = await readChanges(log, pending, seen));
    const events = pending.next();
    if (round === 0) expect(positions(events)).toEqual(expect.arrayContaining([3_000.5, 3_001, 3_002]));
    for (const { position } of events) {
      expect(pending.firstPosition()).toBeLessThanOrEqual(position);
      done.add(position);
    }
    pending.settle(events, streams());
  }
  expect(new Set(log.scanned)).toEqual(new Set(["o1"]));
  expect(done.size).toBe(3_004);
  expect([pending.hasAny(), pending.firstPosition()]).toEqual([false, Infinity]);
});
