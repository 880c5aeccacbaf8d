import { expect, test } from "vitest";
import { decodePassages, encodePassages, readPagination, passagesFrom } from "./passageLines.ts";
import type { Passage } from "./reader.ts";

const passagesOf = (count: number): Passage[] =>
  Array.from({ length: count }, (_, seq) => ({
    seq,
    page: seq + 1,
    section: seq % 2 ? "Guide > Instàll\n\u2028" : null,
    start: seq * 10,
    end: seq * 10 + 10,
    lead: "before",
  }));
const paging = { page_count: 2, pages: [7, 9] };

test.each([0, 1, 999, 1_000, 2_001])("%i passages survive encoding and decoding", async (count) => {
  const passages = passagesOf(count);
  const bytes = encodePassages(paging, passages);
  expect(await decodePassages(bytes)).toEqual(passages);
  expect(readPagination(bytes)).toEqual(paging);
});

test("whether pages are slides survives encoding", () => {
  const slides = { page_count: null, pages: [7, 9], slides: true as const };
  expect(readPagination(encodePassages(slides, []))).toEqual(slides);
});

test("passages from a given number on are read without parsing the earlier ones", () => {
  const passages = passagesOf(5);
  const bytes = encodePassages(paging, passages);
  bytes.fill("x", bytes.indexOf('{"seq":1'), bytes.indexOf('{"seq":2') - 1);
  expect([...passagesFrom(bytes, 3)]).toEqual(passages.slice(3));
  expect([...passagesFrom(bytes, 5)]).toEqual([]);
  expect(() => [...passagesFrom(bytes, 1)]).toThrow(SyntaxError);
});

test("an old blob of a single line can be read", async () => {
  const passages = passagesOf(3);
  const bytes = Buffer.from(JSON.stringify({ ...paging, passages }));
  expect(await decodePassages(bytes)).toEqual(passages);
  expect([...passagesFrom(bytes, 2)]).toEqual(passages.slice(2));
  expect(readPagination(bytes)).toEqual(paging);
});

test("an empty blob is an error", async () => {
  await expect(decodePassages(Buffer.alloc(0))).rejects.toThrow("empty");
});
