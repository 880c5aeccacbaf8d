import { expect, test } from "vitest";
import { countRounds } from "#test/countRounds.ts";
import { encode } from "../projection.ts";
import { listUsage, type UsageRow } from "./query.ts";

test("as many groups as a CSV may have are decoded in slices", async () => {
  const stored = { group: encode("ada"), name: encode("Ada"), member: null, turns: 1, total: 100_000 };
  const db = { query: async () => Array.from({ length: 100_000 }, () => stored) };
  const query = { from: new Date(0), to: new Date(1), by: "user", limit: 100_000, offset: 0 } as const;
  let rows: UsageRow[] = [];
  const listing = listUsage(db as never, "o", query).then((found) => {
    rows = found.rows;
    expect(found.total).toBe(100_000);
  });
  expect(await countRounds(listing)).toBeGreaterThan(5);
  expect(rows).toHaveLength(100_000);
  expect(rows[99_999]).toEqual({ group: "ada", name: "Ada", member: null, turns: 1 });
});
