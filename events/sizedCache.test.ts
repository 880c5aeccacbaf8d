import fc from "fast-check";
import { expect, test } from "vitest";
import { createSizedCache } from "./sizedCache.ts";

test("the entries that were set or used longest ago are dropped beyond the size", () => {
  const cache = createSizedCache<number>({ size: 10 });
  cache.set("a", 1, 4);
  cache.set("b", 2, 4);
  expect([cache.use("a"), cache.find("b")]).toEqual([1, 2]);
  cache.set("c", 3, 4);
  expect(["a", "b", "c"].map(cache.find)).toEqual([1, undefined, 3]);
  cache.set("a", 4, 10);
  expect(["a", "c"].map(cache.find)).toEqual([4, undefined]);
  cache.set("a", 5, 11);
  expect(cache.find("a")).toBeUndefined();
});

test("an owner with a quarter of the room or more makes room for its own next entries", () => {
  const cache = createSizedCache<number>({ size: 100, entries: 8 });
  cache.set("other", 1, 1, "other");
  const keys = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
  for (const [n, key] of keys.entries()) cache.set(key, n, 1, "busy");
  // eight entries: the oldest of all is still there
  expect([cache.find("other"), ...keys.map(cache.find)]).toEqual([1, undefined, undefined, 2, 3, 4, 5, 6, 7, 8]);
  cache.set("large", 9, 95, "busy");
  expect(["other", "i", "large"].map(cache.find)).toEqual([1, 8, 9]);
});

test("what idle owners have makes room for one that works", () => {
  const cache = createSizedCache<number>({ size: 100, entries: 100 });
  for (let n = 0; n < 20; n++) cache.set(`idle ${n}`, n, 5, `idle ${n}`);
  cache.use("idle 0");
  for (let n = 0; n < 5; n++) cache.set(`new ${n}`, n, 5, "active");
  const found = (name: string, count: number) => Array.from({ length: count }, (_, n) => cache.find(`${name} ${n}`));
  expect(found("new", 5)).toEqual([0, 1, 2, 3, 4]);
  expect(found("idle", 7)).toEqual([0, undefined, undefined, undefined, undefined, undefined, 6]);
});

test("the sizes of what is kept never exceed the limit together, and an entry that fits is kept when it is set", () => {
  const key = fc.constantFrom("a", "b", "c", "d", "e");
  const change = fc.oneof(
    fc.record({ what: fc.constant("set" as const), key, size: fc.integer({ min: 0, max: 12 }) }),
    fc.record({ what: fc.constantFrom("use" as const, "forget" as const), key }),
  );
  fc.assert(
    fc.property(fc.array(change, { maxLength: 50 }), (changes) => {
      const cache = createSizedCache<number>({ size: 10, entries: 3 });
      for (const one of changes) {
        if (one.what === "set") {
          cache.set(one.key, one.size, one.size);
          expect(cache.find(one.key)).toBe(one.size > 10 ? undefined : one.size);
        } else cache[one.what](one.key);
        const sizes = ["a", "b", "c", "d", "e"].map(cache.find).filter((size) => size !== undefined);
        expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(10);
        expect(sizes.length).toBeLessThanOrEqual(3);
      }
    }),
  );
});
