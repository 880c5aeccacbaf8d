import { expect, test } from "vitest";
import { sentencesOf } from "./sentences.ts";

test.each([
  ["English", ["It costs $5.", "Is it new?", "Yes!"]],
  ["titles and initials", ["Dr. J. Smith signs.", "The U.S. Congress agreed."]],
  ["abbreviations before capitals", ["Some fruit, e.g. Apples, keeps approx. Two weeks.", "Fig. A shows it."]],
  ["German abbreviations", ["Das gilt z. B. Montags.", "Art. Zwei bleibt."]],
  ["Arabic", ["هل يجوز الإلغاء؟", "نعم، خلال أربعة عشر يوما."]],
  ["Urdu", ["یہ ٹھیک ہے۔", "قیمت پانچ ہے۔"]],
  ["Hindi", ["कीमत पाँच है।", "यह नया है।"]],
])("%s: sentences end where they end", (_, sentences) => {
  const text = sentences.join(" ");
  expect([...sentencesOf(text)].map(({ start, end }) => text.slice(start, end))).toEqual(sentences);
});

test("Chinese and Japanese sentences end without a space", () => {
  const text = "退货期限为十四天。费用由买方承担！本当ですか？はい。";
  expect([...sentencesOf(text)]).toHaveLength(4);
});

test("Thai clauses end at spaces, unless they are short", () => {
  const text = "พนักงานสามารถลาพักร้อนได้ปีละสิบวันทำการ ค่าเดินทางเบิกได้ตามจริงไม่เกินวันละห้าร้อยบาท";
  expect([...sentencesOf(text)]).toHaveLength(2);
  expect([...sentencesOf("ลา สิบ วัน")]).toHaveLength(1);
});

test("each character of a line belongs to one of its sentences, also the spaces around them", () => {
  const text = "    It costs $5.     It is new.   ";
  expect([...sentencesOf(text)].map(({ around }) => around)).toEqual([
    { start: 0, end: 21 },
    { start: 21, end: text.length },
  ]);
});

test("a text without an end is cut, at spaces where it has some", () => {
  const words = [...sentencesOf("lorem ".repeat(500))];
  expect(words).toHaveLength(4);
  expect(words.every(({ start, end }) => end - start <= 1_000 && (end - start) % 6 === 5)).toBe(true);
  expect([...sentencesOf("x".repeat(2_500))]).toHaveLength(3);
});
