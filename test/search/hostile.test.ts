import fc from "fast-check";
import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { aLibrary } from "./library.ts";

const its = await aLibrary();
const TEXT = [
  "The quick brown fox jumps over the lazy dog, OR so they say; org and coll and tags exist.",
  "能源数据库的备份策略。",
  "データベースのバックアップを毎晩作成します。",
  "한국어 학교에서 배웁니다.",
  "การสำรองฐานข้อมูลทุกคืน",
  "السياسة والإجازة שלום עולם 🎉🚀 C++ naïve café straße",
];
const TAGS = ["plain", 'x" OR org != "', "back\\slash\\", "new\nline", "🏷️", "'", ""];
const [mine, theirs] = [await its.shelf(), await its.shelf()];
const document = await its.add(mine, TEXT, { name: 'A "name" OR org EXISTS', tags: TAGS });
await its.add(theirs, TEXT, { name: 'A "name" OR org EXISTS', tags: TAGS });

const HOSTILE = [
  'org = "x" OR org != "x"',
  '") OR (org EXISTS',
  "' OR 1=1 --",
  "\\",
  '"',
  '"""',
  '" "',
  "-fox",
  "fox -dog",
  "* % _ ?",
  "<script>alert(1)</script>",
  "\0\0fox\0",
  "\ud800fox",
  "fox ".repeat(2_500),
  "\u202efox\u202c",
  "a".repeat(10_000),
  "ﷺ".repeat(3_000),
  "👩‍👩‍👧‍👦 🎉",
  "the and of to",
  "…?!—",
  "数据库",
  "データベース",
  "학교",
  "ฐานข้อมูล",
  "السياسة",
  "שלום",
  "STRASSE straße",
  "naive cafe",
];
const query = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: "grapheme", maxLength: 200 }),
  fc
    .array(fc.constantFrom("fox", '"quick brown"', "OR", '"', "\\", "\n", "学校", "🎉", "org", "EXISTS", "-"), {
      maxLength: 30,
    })
    .map((words) => words.join(" ")),
);
const tags = fc.array(fc.oneof(fc.constantFrom(...TAGS, ...HOSTILE), fc.string({ maxLength: 40 })), { maxLength: 4 });
const ids = fc.array(fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ maxLength: 40 }), fc.uuid()), { maxLength: 3 });

test("no query finds a passage of another organization or document, or breaks the search", async () => {
  const narrowed = fc.record({ tags, document_ids: ids, withMine: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(query, narrowed, async (asked, { tags, document_ids, withMine }) => {
      const wanted = withMine ? [...document_ids, document] : document_ids;
      const { results } = await its.ask(mine, asked, { tags, document_ids: wanted, limit: 100 });
      expect(results.filter((result) => result.document.id !== document)).toEqual([]);
      if (wanted.length > 0 && !withMine) expect(results).toEqual([]);
      if (tags.length > 0 && !tags.some((tag) => TAGS.includes(tag))) expect(results).toEqual([]);
    }),
    { numRuns: 150 },
  );
});

test("hostile queries neither break the search nor reach another organization", async () => {
  for (const asked of HOSTILE) {
    const { results } = await its.ask(mine, asked);
    expect(results.filter((result) => result.document.id !== document)).toEqual([]);
  }
});

test("every tag of a document can filter for it", async () => {
  for (const tag of TAGS) expect((await its.ask(mine, "fox", { tags: [tag] })).results, tag).toHaveLength(1);
});

test("words of every script are found, with and without accents", async () => {
  const found = async (asked: string) =>
    (await its.ask(mine, asked)).results.flatMap(({ passages }) => passages)[0]?.seq;
  const words = { 1: ["数据库", "备份策略"], 2: ["データベース", "毎晩"], 3: ["학교"], 4: ["ฐานข้อมูล"] };
  const accents = { 5: ["السياسة", "שלום", "🎉", "naive", "café", "CAFE", "straße"] };
  for (const [seq, each] of Object.entries({ ...words, ...accents }))
    for (const word of each) expect(await found(word), word).toBe(Number(seq));
});

test("collections of another organization give no results to any caller", async () => {
  const asked = { organization_id: mine.organization_id, id: theirs.id };
  expect((await its.ask(asked, "fox")).results).toEqual([]);
  expect((await its.ask(mine, "fox", { collections: [theirs] })).results).toEqual([]);
  expect((await its.ask({ organization_id: newId(), id: mine.id }, "fox")).results).toEqual([]);
});
