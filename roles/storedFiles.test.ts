import { expect, test } from "vitest";
import type { Db } from "#projections/projection.ts";
import { openStored } from "./storedFiles.ts";

test("concurrent uploads share one query for what their organizations have stored", async () => {
  const asked: string[][] = [];
  const db = {
    query: async (_: string, [ids]: [string[]]) => {
      asked.push(ids);
      return ids.map((id) => ({ id, bytes: id.length, unread: 0 }));
    },
  } as unknown as Db;
  const stored = openStored(db);
  const found = await Promise.all(["a", "bb", "a", "a", "bb"].map(stored));
  expect(found.map(({ bytes }) => bytes)).toEqual([1, 2, 1, 1, 2]);
  expect(asked).toEqual([["a", "bb"]]);
});
