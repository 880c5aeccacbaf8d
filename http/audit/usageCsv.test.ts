import { expect, test } from "vitest";
import { toCsv } from "./usageCsv.ts";

test("cells of a CSV are quoted where they must be, and never a formula", async () => {
  const rows = [
    { user: 'Ada "the" first', turns: 1, cost: "0.5" },
    { user: "=HYPERLINK(1)", turns: 2, cost: null },
    { user: "a,b\nc", turns: 3, cost: "12" },
    { user: null, turns: 4 },
  ];
  expect(await toCsv(["user", "turns", "cost"], rows)).toBe(
    'user,turns,cost\r\n"Ada ""the"" first",1,0.5\r\n\'=HYPERLINK(1),2,\r\n"a,b\nc",3,12\r\n,4,\r\n',
  );
});
