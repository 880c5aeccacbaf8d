import { expect, test } from "vitest";
import { dropOldest } from "./dropOldest.ts";

test("the entries that were added first are dropped, until the limit is kept", () => {
  const entries = new Map(["a", "b", "c", "d"].map((key, n) => [key, n]));
  entries.delete("b");
  entries.set("b", 4);
  dropOldest(entries, 2);
  expect([...entries.keys()]).toEqual(["d", "b"]);
  dropOldest(entries, 2);
  expect(entries.size).toBe(2);
});
