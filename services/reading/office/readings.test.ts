import { expect, test } from "vitest";
import { openText, wordFile } from "#test/reading/archives.ts";
import { readDocx } from "./docx.ts";
import { fieldLabel, fieldReading } from "./fieldLabels.ts";
import { readOdt } from "./odt.ts";
import { readRtf } from "./rtf.ts";

/* Phonetic readings above words follow them in brackets, as those of web pages do. */

const t = (text: string): string => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`;

const readWord = (content: string): Promise<string[]> => readDocx(wordFile(`<w:p>${content}</w:p>`));

const wordRuby = (word: string, reading: string, style = ""): string =>
  `<w:r><w:ruby><w:rubyPr><w:rubyAlign w:val="distributeSpace"/></w:rubyPr><w:rt>${t(reading)}</w:rt><w:rubyBase><w:r><w:rPr>${style}</w:rPr><w:t>${word}</w:t></w:r></w:rubyBase></w:ruby></w:r>`;

test("readings in Word follow their words", async () => {
  expect(await readWord(t("これは") + wordRuby("本", "ほん") + t("です。"))).toEqual(["これは本 (ほん)です。"]);
  // the word stays in one piece, so that a search finds it
  expect(await readWord(wordRuby("漢", "かん") + wordRuby("字", "じ"))).toEqual(["漢字 (かんじ)"]);
  expect(await readWord(wordRuby("東京", "とうきょう", "<w:b/>"))).toEqual(["**東京** (とうきょう)"]);
  expect(await readWord(wordRuby("東京", "") + t("駅"))).toEqual(["東京駅"]);
});

const field = (word: string, reading: string): string =>
  String.raw` EQ \* jc2 \* "Font:MS Mincho" \* hps10 \o\ad(\s\up 9(${reading}),${word})`;

test("readings in fields of older programs follow their words", async () => {
  const mark = (type: string): string => `<w:r><w:fldChar w:fldCharType="${type}"/></w:r>`;
  const inWord = (word: string, reading: string): string =>
    `${mark("begin")}<w:r><w:instrText>${field(word, reading)}</w:instrText></w:r>${mark("end")}`;
  expect(await readWord(inWord("漢", "かん") + inWord("字", "じ") + t("を読む"))).toEqual(["漢字 (かんじ)を読む"]);
  const simple = `<w:fldSimple w:instr='${field("東京", "とうきょう")}'/>`;
  expect(await readWord(simple)).toEqual(["東京 (とうきょう)"]);
});

test("readings in RTF follow their words", async () => {
  const unicode = (text: string): string => Array.from(text, (sign) => `\\u${sign.codePointAt(0)}?`).join("");
  const inRtf = (word: string, reading: string): string =>
    `{\\field{\\*\\fldinst {${field(unicode(word), unicode(reading)).replace(/\\(?!u\d)/g, "\\\\")}}}{\\fldrslt }}`;
  const file = `{\\rtf1 A ${inRtf("漢", "かん")}${inRtf("字", "じ")} B\\par}`;
  expect(await readRtf(Buffer.from(file))).toEqual(["A 漢字 (かんじ) B"]);
});

test.each([
  [field("東京", "とうきょう"), "東京", "とうきょう"],
  [String.raw`EQ \o (\s\up 11(Tōkyō);東京)`, "東京", "Tōkyō"],
  [String.raw`EQ \o\al(a,b)`, "ab", ""],
  [String.raw`EQ x\s\up 8(2)`, "x2", ""],
])("the field %s shows %s below %s", (instruction, label, reading) => {
  expect([fieldLabel(instruction), fieldReading(instruction)]).toEqual([label, reading]);
});

test("readings in OpenDocument texts follow their words", async () => {
  const ruby = (word: string, reading: string): string =>
    `<text:ruby><text:ruby-base>${word}</text:ruby-base><text:ruby-text text:style-name="R">${reading}</text:ruby-text></text:ruby>`;
  const body = `<text:p>これは${ruby("本", "ほん")}です。</text:p><text:p>${ruby("漢", "かん")}${ruby("字", "じ")}${ruby("を", "")}</text:p>`;
  expect(await readOdt(openText(body))).toEqual(["これは本 (ほん)です。\n\n漢字を (かんじ)"]);
});
