import { expect, test } from "vitest";
import { countRounds } from "#test/countRounds.ts";
import { cutPage } from "./documentPassages.ts";

/** Passages of one letter, a hundred on each page. */
function* passagesOf(count: number) {
  for (let seq = 0; seq < count; seq++)
    yield { seq, page: 1 + Math.floor(seq / 100), section: null, start: seq, end: seq + 1 };
}

test("the event loop goes round while the passages before a late page are parsed", async () => {
  const count = 50_000;
  const reading = cutPage(passagesOf(count), "x".repeat(count), { from_page: 500, limit: 2 });
  expect(await countRounds(reading)).toBeGreaterThan(40);
  const { data, next_from_seq } = await reading;
  expect([data.map(({ seq }) => seq), next_from_seq]).toEqual([[49_900, 49_901], 49_902]);
});

test("a page has at most `limit` passages, and the last one has none after it", async () => {
  const cut = (count: number) => cutPage(passagesOf(count), "ab", { from_page: 0, limit: 2 });
  expect(await cut(2)).toMatchObject({ data: [{ text: "a" }, { text: "b" }], next_from_seq: null });
  expect(await cut(3)).toMatchObject({ data: [{}, {}], next_from_seq: 2 });
});

test("a passage that begins within a table has the header of the table", async () => {
  const [header, row] = ["| Work | Rate |\n| --- | --- |\n", "| Paint labor | 61 |"];
  const [head, end] = [header.length, header.length + row.length];
  const place = { page: null, section: null };
  const passages = [
    { ...place, seq: 0, start: 0, end: head, lead: "" },
    { ...place, seq: 1, start: head, end, lead: header.trim() },
  ];
  const { data } = await cutPage(passages, header + row, { from_page: 0, limit: 9 });
  expect(data.map(({ table_header }) => table_header)).toEqual([undefined, header.trim()]);
  expect(data[1]!.text).toBe(row);
});
