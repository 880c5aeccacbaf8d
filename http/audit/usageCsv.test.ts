import { expect, test } from "vitest";
import { sendCsv, toCsv } from "./usageCsv.ts";

test("cells of a CSV are quoted where they must be, and never a formula", async () => {
  const rows = [
    { user: 'Ada "the" first', turns: 1, cost: "0.5" },
    { user: "=HYPERLINK(1)", turns: 2, cost: null },
    { user: "a,b\nc", turns: 3, cost: "12" },
    { user: null, turns: 4 },
  ];
  expect(await toCsv(["user", "turns", "cost"], rows, rows.length)).toBe(
    'user,turns,cost\r\n"Ada ""the"" first",1,0.5\r\n\'=HYPERLINK(1),2,\r\n"a,b\nc",3,12\r\n,4,\r\n',
  );
});

test("a CSV that lacks groups says so in its last line", async () => {
  const csv = await toCsv(["user", "turns", "cost"], [{ user: "ada", turns: 1, cost: "1" }], 3);
  expect(csv).toBe("user,turns,cost\r\nada,1,1\r\n1 of 3 groups: choose a shorter period,,\r\n");
});

test("the bytes of a CSV count for its organization before it is sent", () => {
  const counted: number[] = [];
  const request = { countBytes: (bytes: number) => void counted.push(bytes) };
  let sentAfter = -1;
  const reply = {
    raw: { setTimeout: () => {} },
    headers: () => reply,
    send: () => {
      sentAfter = counted.length;
      return reply;
    },
  };
  sendCsv(request as never, reply as never, "user,turns\r\né,1\r\n");
  expect([counted, sentAfter]).toEqual([[18], 1]);
});
