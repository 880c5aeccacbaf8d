import { expect, test } from "vitest";
import { countRounds } from "#test/countRounds.ts";
import type { Db } from "../projection.ts";
import { resolveCollections } from "./query.ts";

test("the event loop goes round while thousands of names that are slow to normalize are looked up", async () => {
  const db = { query: async () => [] } as unknown as Db;
  // marks in the wrong order are sorted in quadratic time
  const marks = "\u0301\u0316".repeat(495);
  const names = Array.from({ length: 3_000 }, (_, n) => `${n}a${marks}`);
  const resolved = resolveCollections(db, "o1", names);
  expect(await countRounds(resolved)).toBeGreaterThan(5);
  expect(await resolved).toEqual({ found: [], unknown: names });
});
