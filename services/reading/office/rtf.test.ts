import type { ReadingWarning } from "#events/readingWarnings.ts";
import { describe, expect, test } from "vitest";
import { UnreadableFile } from "../reader.ts";
import { readRtf } from "./rtf.ts";

const read = async (body: string): Promise<string> =>
  (await readRtf(Buffer.from(`{\\rtf1\\ansi\\ansicpg1252 ${body}}`, "latin1")))[0] ?? "";

test("characters are decoded in the font's encoding, without their fallbacks", async () => {
  const fonts = "{\\fonttbl{\\f0\\fcharset0 Arial;}{\\f1\\fcharset204 Arial;}{\\f2\\fcharset128 Gothic;}}";
  expect(
    await read(
      `${fonts}\\f0 caf\\'e9 \\f1 \\'cc\\'e8\\'f0 \\f2 \\'93\\'fa\\'96{\\f2\\'7b}\\par \\uc1\\u8364?5 \\uc2\\u-3?\\'3f!`,
    ),
  ).toContain("café Мир 日");
  expect(await read("\\uc1\\u8364?5 and \\u55357?\\u56832?")).toBe("€5 and 😀");
});

test("headings are recognized by style and outline level", async () => {
  const styles = "{\\stylesheet{\\s0 Normal;}{\\s2 heading 2;}{\\s3 Title;}}";
  const body = "\\pard\\s3 Report\\par\\pard\\s2 Costs\\par\\pard\\outlinelevel2\\b Rent\\par";
  expect(await read(styles + body)).toBe("# Report\n\n## Costs\n\n### Rent");
});

test("list items are recognized by their labels, also by typed ones", async () => {
  const item = (label: string, level: number, text: string): string =>
    `{\\listtext ${label}\\tab}\\pard\\ls1\\ilvl${level} ${text}\\par`;
  expect(await read(item("1.", 0, "one") + item("\\'b7", 1, "a") + item("2.", 0, "two"))).toBe(
    "1. one\n   - a\n2. two",
  );
  expect(await read("{\\pard\\li360\\fi-360 \\bullet\\tab x\\par}{\\pard\\li720\\fi-360 \\endash\\tab y\\par}")).toBe(
    "- x\n  - y",
  );
});

test("numbered items keep their numbers after a paragraph, and where they begin again", async () => {
  const item = (label: string): string => `{\\listtext ${label}\\tab}\\pard\\ls1\\ilvl0 x\\par`;
  const body = item("1.") + item("2.") + "\\pard Between.\\par" + item("3.") + item("7.") + item("8.");
  expect(await read(body)).toBe("1. x\n2. x\n\nBetween.\n\n3. x\n7. x\n8. x");
});

test("letters of list items stay as text, because other texts refer to them", async () => {
  const item = (label: string, text: string): string => `{\\listtext ${label}\\tab}\\pard\\ls1\\ilvl0 ${text}\\par`;
  expect(await read(item("(c)", "rent") + item("(d)", "heat"))).toBe("- (c) rent\n- (d) heat");
  expect(await read(item("o", "a bullet of a font of symbols"))).toBe("- a bullet of a font of symbols");
  expect(await read("{\\pard\\li360\\fi-360 iv)\\tab x\\par}{\\pard\\li360\\fi-360 3)\\tab y\\par}")).toContain(
    "- iv) x",
  );
});

test("the spans of table cells follow from their edges", async () => {
  const wide = "\\trowd\\cellx100\\cellx300 \\intbl A\\cell B\\cell\\row";
  const narrow = "\\trowd\\cellx100\\cellx200\\cellx300 \\intbl 1\\cell 2\\cell 3\\cell\\row\\pard After\\par";
  expect((await read(wide + narrow)).split("\n")).toEqual([
    "| A | B | B |",
    "| --- | --- | --- |",
    "| 1 | 2 | 3 |",
    "",
    "After",
  ]);
});

test("links are kept, notes move to the end, and monospaced text is code", async () => {
  const fonts = "{\\fonttbl{\\f0\\fswiss Arial;}{\\f1\\fmodern Courier;}}";
  const link = '{\\field{\\*\\fldinst HYPERLINK "https://lab.example/"}{\\fldrslt map}}';
  const note = "{\\footnote \\pard Since 2019.\\par}";
  expect(await read(`${fonts}\\f0 See the ${link}${note} of {\\f1 B-014}.\\par\\pard\\f1 a = 1\\par`)).toBe(
    "See the [map](https://lab.example/)[^1] of `B-014`.\n\n```\na = 1\n```\n\n[^1]: Since 2019.",
  );
});

test("headers, images, deleted and hidden text are left out", async () => {
  const left =
    "{\\header Page}{\\pict\\pngblip 89504e47}{\\*\\unknown x}{\\deleted old}{\\v secret}{\\info{\\title T}}";
  expect(await read(`${left}Text\\bin4 \\{}{ here`)).toBe("Text here");
});

test("hidden passages are counted once, however they are declared, and a path is none of them", async () => {
  const warnings: ReadingWarning[] = [];
  const hidden =
    "one {\\v1 secret}{\\v s\\'e4cret}, two \\v hidden \\b here\\b0\\v0 , three {\\v  } {\\deleted\\v0 old}";
  const file = `{\\rtf1 ${hidden} in C:\\\\v\\\\valid\\par}`;
  expect(await readRtf(Buffer.from(file, "latin1"), (warning) => warnings.push(warning))).toEqual([
    "one , two , three in C:\\v\\valid",
  ]);
  expect(warnings).toEqual([
    { code: "tracked_changes_left_out", count: 1 },
    { code: "hidden_text_left_out", count: 2 },
  ]);
});

test("a line end after a backslash ends a paragraph, as in files of macOS", async () => {
  const file =
    "{\\rtf1\\ansi\\cocoartf2639\n\\pard\n\\f0\\fs24 \\cf0 Harbour office\\\n\\\r\nOpen\ned daily\\\r\n{\\b Closed}\\\n}";
  expect(await readRtf(Buffer.from(file, "latin1"))).toEqual(["Harbour office\n\nOpened daily\n\n**Closed**"]);
});

test("a truncated file keeps its text", async () => {
  expect(await read("One{\\footnote Note}\\par\\trowd\\cellx100\\intbl cell\\cell rest")).toBe(
    "One[^1]\n\ncell\n\nrest\n\n[^1]: Note",
  );
});

test("a file that is not RTF or is nested too deeply is refused", async () => {
  await expect(readRtf(Buffer.from("Hello"))).rejects.toThrow(UnreadableFile);
  await expect(read("{".repeat(100_000))).rejects.toThrow(UnreadableFile);
});

test("WordArt is read before the paragraph in which it is anchored", async () => {
  const property = (name: string, value: string): string => `{\\sp{\\sn ${name}}{\\sv ${value}}}`;
  const properties = property("wzName", "Shape 1") + property("gtextUNICODE", "Harbour \\'26 Sons");
  expect(await read(`Text{\\shp{\\*\\shpinst\\shpleft1${properties}}{\\shprslt x}}\\par`)).toBe(
    "Harbour & Sons\n\nText",
  );
});

test("a list field whose choice is not in the text is reported", async () => {
  const list = (result: string): string =>
    `{\\field{\\*\\fldinst FORMDROPDOWN {\\*\\formfield{\\ffres1{\\*\\ffl Red}}}}{\\fldrslt ${result}}}`;
  const warnings: ReadingWarning[] = [];
  const file = `{\\rtf1 One: ${list("{Red}")}, two: ${list("")}\\par}`;
  expect(await readRtf(Buffer.from(file, "latin1"), (warning) => warnings.push(warning))).toEqual(["One: Red, two:"]);
  expect(warnings).toEqual([{ code: "form_fields_left_out", count: 1 }]);
});

test("boxes that may be checked are reported", async () => {
  const box = (state: number): string =>
    `{\\field{\\*\\fldinst {FORMCHECKBOX }{\\*\\formfield{\\fftype1\\ffres${state}\\ffdefres0}}}{\\fldrslt }}`;
  const warnings: ReadingWarning[] = [];
  const file = `{\\rtf1 Paid${box(1)}\\par Sent${box(0)}\\par}`;
  expect(await readRtf(Buffer.from(file, "latin1"), (warning) => warnings.push(warning))).toEqual(["Paid\n\nSent"]);
  expect(warnings).toEqual([{ code: "form_fields_left_out", count: 2 }]);
});

test("list fields without a result are counted in one pass", async () => {
  const warnings: ReadingWarning[] = [];
  const file = `{\\rtf1 Text{\\*\\fldinst ${"FORMDROPDOWN ".repeat(300_000)}}\\par}`;
  await readRtf(Buffer.from(file, "latin1"), (warning) => warnings.push(warning));
  expect(warnings).toEqual([{ code: "form_fields_left_out", count: 300_000 }]);
});

test("warnings count deletions, comments and pictures", async () => {
  const picture = "{\\*\\shppict{\\pict\\pngblip 89}}{\\nonshppict{\\pict\\wmetafile8 01}}";
  const file = `{\\rtf1 Text{\\deleted old}{\\*\\annotation really?}${picture}\\par}`;
  const warnings: ReadingWarning[] = [];
  expect(await readRtf(Buffer.from(file, "latin1"), (warning) => warnings.push(warning))).toEqual(["Text"]);
  expect(warnings).toEqual([
    { code: "tracked_changes_left_out", count: 1 },
    { code: "comments_left_out", count: 1 },
    { code: "images_without_text", count: 1 },
  ]);
});

test("page, column and line breaks separate words", async () => {
  expect((await read("one\\page two\\column three\\lbr1 four\\page\\par")).split(/\s+/)).toEqual([
    "one",
    "two",
    "three",
    "four",
  ]);
});

test("text in the font Symbol is read as it is displayed", async () => {
  const fonts = "{\\fonttbl{\\f0\\fcharset204 Arial;}{\\f3\\froman\\fcharset2{\\*\\panose 05050102}Symbol;}}";
  expect(await read(`${fonts}\\f0 5 {\\f3 m}m {\\f3 \\'b3 \\u-3999\\'61}, {\\f3 S}`)).toBe("5 μm ≥ α, Σ");
});

test("symbols of Wingdings and Webdings are read as they are displayed, and symbols of unknown fonts are reported", async () => {
  const font = (number: number, name: string): string => `{\\f${number}\\fnil\\fcharset2 ${name};}`;
  const fonts = `{\\fonttbl{\\f0 Arial;}${font(1, "Wingdings")}${font(2, "Wingdings 2")}${font(3, "Company Icons")}}`;
  const body = "\\f0 Paid {\\f1\\'fc}, sent {\\f1 \\u-3844?}, open {\\f2 P}, {\\f3 \\u-4031?\\u-4030?ab} \\'80";
  const warnings: ReadingWarning[] = [];
  const file = Buffer.from(`{\\rtf1\\ansi ${fonts}${body}\\par}`, "latin1");
  expect(await readRtf(file, (warning) => warnings.push(warning))).toEqual(["Paid ✓, sent ✓, open 🗸, ab €"]);
  expect(warnings).toEqual([{ code: "symbols_instead_of_words", count: 2 }]);
});

describe("an equation", () => {
  const run = (text: string): string => `{\\mr\\mscr0\\msty2 \\loch\\af0\\hich\\af1\\dbch\\af2 ${text}}`;
  const math = (content: string): string => `{\\mmath{\\*\\moMath${content}}}`;
  const control = "{\\mctrlPr\\i\\f34 }";

  test("is read as TeX, as in other formats", async () => {
    const half = `{\\mf{\\mfPr{\\mtype bar}${control}}{\\mnum ${run("a+1")}}{\\mden ${run("2")}}}`;
    const power = `{\\msSup{\\msSupPr${control}}{\\me ${run("x")}}{\\msup ${run("2")}}}`;
    const sum = `{\\mnary{\\mnaryPr{\\mchr \\u8721?}{\\mlimLoc undOvr}}{\\msub ${run("i=1")}}{\\msup ${run("n")}}{\\me ${run("i")}}}`;
    const picture = "{\\mmathPict {\\*\\shppict{\\pict\\pngblip 89}}{\\nonshppict{\\pict\\wmetafile8 01}}}";
    const file = `{\\rtf1 Let {\\*\\moMathPara{\\*\\moMathParaPr{\\mjc2}}${math(`${run("y=")}${half}${power}`)}} and ${math(sum)}${picture}.\\par}`;
    const warnings: ReadingWarning[] = [];
    expect(await readRtf(Buffer.from(file, "latin1"), (warning) => warnings.push(warning))).toEqual([
      "Let $y=\\frac{a+1}{2}x^{2}$ and $∑_{i=1}^{n} i$.",
    ]);
    expect(warnings).toEqual([]);
  });

  test("with thousands of nested parts keeps its text", async () => {
    const deep = "{\\msSup{\\me ".repeat(1_500);
    expect(await read(`Deep ${math(`${deep}x${"}}".repeat(1_500)}`)} end`)).toContain("x");
  });

  test("in a truncated file keeps its text", async () => {
    expect(await read(`Cut {\\mmath{\\*\\moMath{\\mf{\\mnum ${run("a")}}{\\mden ${run("b")}`)).toContain("frac{a}{b}");
  });
});

test("the numbers of headings and of clauses are read, as others refer to them", async () => {
  const numbered = (label: string, more: string): string => `{\\listtext\\pard ${label}\\tab}\\pard\\ls1${more}\\par`;
  const body = [numbered("2.1", "\\s2 Costs"), numbered("\\'a7", "\\s2 Dates"), numbered("Article 3", " Rent")];
  const inner = numbered("7.3", "\\ilvl1 Term") + numbered("(a)", "\\ilvl2 May");
  expect(await read(`{\\stylesheet{\\s2 heading 2;}}${body.join("")}${inner}`)).toBe(
    "## 2.1 Costs\n\n## Dates\n\n- Article 3 Rent\n  - 7.3 Term\n    - (a) May",
  );
});

describe("the description", () => {
  const property = (name: string, value: string): string => `{\\sp{\\sn ${name}}{\\sv ${value}}}`;
  const described = (words: string): string => property("wzDescription", words);
  const picture = (words: string): string => `{\\pict{\\*\\picprop\\shplid1${described(words)}}\\pngblip 89}`;
  const shape = (content: string, kind = "shp"): string =>
    `{\\${kind}{\\*\\shpinst\\shpleft1${content}}{\\shprslt{\\pict\\wmetafile8 01}}}`;
  const box = (text: string): string => `{\\shptxt\\pard ${text}\\par}`;
  const readAll = async (body: string): Promise<[string | undefined, ReadingWarning[]]> => {
    const warnings: ReadingWarning[] = [];
    const [text] = await readRtf(Buffer.from(`{\\rtf1 ${body}\\par}`, "latin1"), (warning) => warnings.push(warning));
    return [text, warnings];
  };
  const counted = (count: number): ReadingWarning[] => [{ code: "images_without_text", count }];

  test("of a picture is read in its place, and pictures without one are counted", async () => {
    const twice = (words: string): string => `{\\*\\shppict${picture(words)}}{\\nonshppict${picture("")}}`;
    expect(await readAll(`See${twice("The quay in 1920")}below ${twice("quay.png")}`)).toEqual([
      "See The quay in 1920 below",
      counted(1),
    ]);
    expect(await readAll(`Text{\\header {\\pict\\pngblip 89}}`)).toEqual(["Text", counted(1)]);
  });

  test("of a shape without text and of a floating picture is read before their paragraph", async () => {
    const floating = shape(described("A crane") + property("pib", "{\\pict\\pngblip 89}"));
    expect(await readAll(`Text${shape(described("An arrow"))}${floating}`)).toEqual([
      "An arrow\n\nA crane\n\nText",
      [],
    ]);
    expect(await readAll(`Text${shape(property("pib", "{\\pict\\pngblip 89}"))}`)).toEqual(["Text", counted(1)]);
    expect(await readAll(`Text${shape(described("A sign") + box("Quay 4"))}`)).toEqual(["Quay 4\n\nText", []]);
  });

  test("of a group is read before those of its parts", async () => {
    const parts = shape(described("A sign") + box("Quay 4")) + shape(described("The mole"));
    expect(await readAll(`Text${shape(described("A map") + parts, "shpgrp")}`)).toEqual([
      "A map\n\nQuay 4\n\nThe mole\n\nText",
      [],
    ]);
  });
});
