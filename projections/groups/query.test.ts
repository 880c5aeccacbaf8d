import { expect, test } from "vitest";
import { countRounds } from "#test/countRounds.ts";
import { encode } from "../projection.ts";
import { listGroups, type GroupRow } from "./query.ts";

test("as many groups and people as an organization may have are decoded in slices", async () => {
  const member = { id: "p", name: encode("Ada"), email: encode("ada@a.example"), role: "member" };
  const members = Array.from({ length: 500 }, () => member);
  const rows = Array.from({ length: 200 }, (_, n) => ({ name: `g${n}`, updated_at: new Date(0), members }));
  let groups: GroupRow[] = [];
  const listing = listGroups({ query: async () => rows } as never, "o").then((found) => (groups = found));
  expect(await countRounds(listing)).toBeGreaterThan(5);
  expect(groups.map(({ group }) => group)).toEqual(rows.map(({ name }) => name));
  expect(groups[199]!.members[499]).toEqual({ id: "p", name: "Ada", email: "ada@a.example", role: "member" });
});
