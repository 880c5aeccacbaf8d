import { expect, test } from "vitest";
import type { PublicEvent } from "#events/ports.ts";
import { createDeferredChanges } from "./deferredChanges.ts";

const changed = (id: number, position: number, organization_id = "o1", type = "DocumentChanged"): PublicEvent => ({
  stream: `document-${id}`,
  organization_id,
  type,
  position,
  data: {},
});
const streams = (...ids: number[]): Set<string> => new Set(ids.map((id) => `document-${id}`));

test("what does not fit is planned again until it does, and holds the checkpoint back", () => {
  const { settle, next, hasAny, firstPosition } = createDeferredChanges();
  const events = [changed(1, 11), changed(2, 12), changed(3, 13)];
  settle(events, streams(2, 3));
  expect([next(), firstPosition()]).toEqual([events.slice(1), 12]);
  settle(next(), streams(3));
  expect([next(), firstPosition()]).toEqual([events.slice(2), 13]);
  settle(next(), streams());
  expect([next(), hasAny(), firstPosition()]).toEqual([[], false, Infinity]);
});

test("a document that changes again and again waits once", () => {
  const { settle, next } = createDeferredChanges();
  for (let position = 1; position <= 50; position++) settle([...next(), changed(1, position)], streams(1));
  expect(next()).toEqual([changed(1, 50)]);
  // a newer change came beside the one that was planned
  settle([changed(1, 49)], streams());
  expect(next()).toEqual([changed(1, 50)]);
});

test("the end of an indexing is not planned again", () => {
  const { settle, next } = createDeferredChanges();
  const indexed = changed(1, 2, "o1", "DocumentIndexed");
  settle([changed(1, 1), indexed], streams(1));
  expect(next()).toEqual([changed(1, 1)]);
});

test("each organization gets its next ones, whatever the others have", () => {
  const { settle, next, isFull } = createDeferredChanges(201);
  const many = Array.from({ length: 200 }, (_, n) => changed(n, n + 1));
  settle(many, streams(...many.keys()));
  expect(isFull()).toBe(false);
  settle([changed(500, 500, "o2")], streams(500));
  expect(next()).toEqual([...many.slice(0, 100), changed(500, 500, "o2")]);
  expect(isFull()).toBe(true);
});
