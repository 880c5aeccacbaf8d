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

test("the owner that has the most makes room for the others", () => {
  const cache = createSizedCache<number>({ size: 10, entries: 4 });
  cache.set("a", 1, 2, "small");
  for (const key of ["b", "c", "d"]) cache.set(key, 2, 3, "large");
  expect(["a", "b", "c", "d"].map(cache.find)).toEqual([1, undefined, 2, 2]);
  cache.set("e", 3, 1, "small");
  cache.use("c");
  cache.set("f", 3, 0, "small");
  // five entries: three of the owner that has less
  expect(["a", "e", "f", "c", "d"].map(cache.find)).toEqual([undefined, 3, 3, 2, 2]);
  cache.set("g", 3, 4, "small");
  expect(["e", "f", "g", "c", "d"].map(cache.find)).toEqual([3, 3, 3, 2, undefined]);
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
