import { expect, test } from "vitest";
import { readCsv, readTsv } from "./csv.ts";
import { detectDelimiter, parseRecords } from "./records.ts";

const records = (text: string, delimiter: "," | ";" | "\t" | "|" = ",") => [...parseRecords(text, delimiter)];
const csv = async (text: string) => (await readCsv(Buffer.from(text)))[0];

test("records end at delimiters and line ends outside quotes", () => {
  expect(records("a,b\n1,2\n")).toEqual([
    ["a", "b"],
    ["1", "2"],
  ]);
  expect(records(`"a,1","b ""c""\nd"\n,`)).toEqual([
    ["a,1", `b "c"\nd`],
    ["", ""],
  ]);
  expect(records("a|b||", "|")).toEqual([["a", "b", "", ""]]);
  expect(records("")).toEqual([]);
  expect(records("a\n\nb")).toEqual([["a"], [""], ["b"]]);
});

test("an unclosed quote, or one inside a field, is an ordinary character", () => {
  expect(records(`5" pipe,"3\nb,c`)).toEqual([
    [`5" pipe`, `"3`],
    ["b", "c"],
  ]);
  expect(records(`"a"b,c`)).toEqual([["ab", "c"]]);
});

test.each([
  ["a,b,c\n1,2,3", ","],
  ["a;b\n1,5;2,5\n3;4", ";"],
  ["1,5;2,5\n3,5;4,5", ";"],
  ["a\tb, c\n1\t2, 3", "\t"],
  ["a|b\n1|2", "|"],
  [`"x;y",b\n"z;w",d`, ","],
  ["one column\nof, words\nonly", ","],
] as const)("the delimiter of the CSV %j is found", (text, delimiter) => {
  expect(detectDelimiter(text)).toBe(delimiter);
});

test("the first row is the header, empty rows and columns are dropped, and short rows are padded", async () => {
  expect(await csv("a,,b\r\n\r\n1,,2,\r\n3\r\n")).toBe("| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 |  |");
});

test("pipes, line breaks and tags in a cell are escaped", async () => {
  expect(await csv(`a,b\n"x|y","one\ntwo <b>"`)).toBe("| a | b |\n| --- | --- |\n| x\\|y | one<br>two \\<b> |");
});

test("lines above the header become titles", async () => {
  expect(await csv("Report of May,,\n\na,b,c\n1,2,3")).toBe(
    "Report of May\n\n| a | b | c |\n| --- | --- | --- |\n| 1 | 2 | 3 |",
  );
});

test("Excel's sep= line decides the delimiter", async () => {
  for (const sign of ["^", "-", "\\", "]", ":"])
    expect(await csv(`sep=${sign}\na${sign}b\n1${sign}2`)).toBe("| a | b |\n| --- | --- |\n| 1 | 2 |");
  expect(await csv("sep=;\na,x;b,y\n1;2")).toBe("| a,x | b,y |\n| --- | --- |\n| 1 | 2 |");
});

test("a TSV file is always split at tabs", async () => {
  expect((await readTsv(Buffer.from("a;b\tc\n1;2\t3")))[0]).toBe("| a;b | c |\n| --- | --- |\n| 1;2 | 3 |");
});

test("an empty CSV gives no text", async () => {
  expect(await csv("\n,,\n")).toBe("");
});
