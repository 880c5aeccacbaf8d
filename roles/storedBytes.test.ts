import { expect, test } from "vitest";
import type { Db } from "#projections/projection.ts";
import { openStoredBytes } from "./storedBytes.ts";

test("concurrent uploads share one query for the bytes that their organizations store", async () => {
  const asked: string[][] = [];
  const db = {
    query: async (_: string, [ids]: [string[]]) => {
      asked.push(ids);
      return ids.map((id) => ({ id, bytes: id.length }));
    },
  } as unknown as Db;
  const bytes = openStoredBytes(db);
  const found = await Promise.all(["a", "bb", "a", "a", "bb"].map(bytes));
  expect(found).toEqual([1, 2, 1, 1, 2]);
  expect(asked).toEqual([["a", "bb"]]);
});
