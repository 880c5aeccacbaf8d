import fc from "fast-check";
import { expect, test } from "vitest";
import { longestTurn } from "../test/computingTime.ts";
import { parseLargeJson } from "./readLargeJson.ts";

const KIB = 1024;
const parse = (text: string) => parseLargeJson(Buffer.from(text));
const long = (text: string): string => text.repeat(Math.ceil((100 * KIB) / text.length));

test.each([
  ["a long text with escapes", JSON.stringify({ text: long('"\\\n\u2028') })],
  ["escapes that a part could cut", `["${"x".repeat(64 * KIB - 3)}${'\\u00e9\\n\\\\\\"'.repeat(30_000)}"]`],
  ["backslashes only", `"${"\\\\".repeat(200 * KIB)}"`],
  ["characters of several bytes", JSON.stringify([long("ü🎈漢"), `x${long("🎈")}`, `xx${long("漢")}`])],
  ["surrogates as escapes", `["${long("\\ud83c\\udf88")}", "x${long("\\udf88\\ud83c")}"]`],
  ["long names", JSON.stringify({ [long("name\n")]: 1, [long("other")]: { [long("deep")]: long("x") } })],
  [
    "many short values",
    JSON.stringify(Array.from({ length: 40_000 }, (_, n) => [n, `text ${n}`, { n, isOdd: n % 2 === 1 }])),
  ],
  [
    "an object of many members",
    JSON.stringify(Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`m${n}`, n]))),
  ],
  ["the same name several times", `{"a":1,"b":"${long("x")}","a":2,"2":0,"1":"${long("y")}"}`],
  ["names of prototypes", `{"__proto__":{"a":1},"x":"${long("x")}","constructor":{"prototype":2}}`],
  ["a long member named __proto__", `{"__proto__":{"text":"${long("x")}"}}`],
  [
    "space everywhere",
    `${long(" \n")}{${long("\t")}"a"${long(" ")}:${long(" ")}[${long("\r")}1${long(" ")},2${long(" ")}]${long(" ")}}${long(" ")}`,
  ],
  ["empty brackets with much space", `[[${long(" ")}],{${long("\n")}},${long(" ")}null]`],
  ["lists in lists", `${"[".repeat(60)}"${long("x")}",1${"]".repeat(60)}`],
])("%s: read as JSON.parse does", async (_title, text) => {
  expect(text.length).toBeGreaterThan(64 * KIB);
  const value = await parse(text);
  expect(value).toEqual(JSON.parse(text));
  expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text)));
});

const x = `"${long("x")}"`;
test.each([
  ["nothing but space", long(" ")],
  ["a comma at the end", `[${x},]`],
  ["a comma and space at the end", `[${x},${long(" ")}]`],
  ["a comma at the beginning", `[,${x}]`],
  ["two commas", `[${x},,1]`],
  ["a comma at the end of an object", `{"a":${x},}`],
  ["a member without a name", `{${x}}`],
  ["a member without a value", `{"a":${x},"b":}`],
  ["a long value without a colon", `{"a"${x}}`],
  ["a name that is a number", `{1:${x}}`],
  ["a list that ends as an object", `[${x}}`],
  ["an object that ends as a list", `{"a":${x}]`],
  ["brackets that do not close", `[${x}`],
  ["brackets that close too often", `[${x}]]`],
  ["two values", `${x} ${x}`],
  ["a string that does not end", `["${long("x")}`],
  ["a string whose last quote is escaped", `["${long("\\\\")}\\"]`],
  ["a line end in a string", `["${long("x")}\n"]`],
  ["an unknown escape", `["${long("\\n")}\\x"]`],
  ["an escape without all its digits", `["${"x".repeat(64 * KIB - 2)}\\u00${long("x")}"]`],
  ["a wrong word", `[${x},tru]`],
])("%s: refused as JSON.parse does", async (_title, text) => {
  expect(() => JSON.parse(text)).toThrow(SyntaxError);
  await expect(parse(text)).rejects.toThrow(SyntaxError);
});

test("a number longer than 64 KiB is refused", async () => {
  await expect(parse("1".repeat(70 * KIB))).rejects.toThrow(SyntaxError);
});

test("any value with long texts anywhere is read as JSON.parse does, written in any way", async () => {
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { depthSize: "small" },
      fc.string({ unit: "binary" }),
      fc.double(),
      fc.constantFrom(null, true, long("\\"), long("é\n"), "x".repeat(64 * KIB - 5)),
      fc.array(tie("any")),
      fc.dictionary(fc.string({ unit: "binary" }), tie("any")),
    ),
  })).any;
  await fc.assert(
    fc.asyncProperty(value, fc.constantFrom(0, 1, 4), async (one, indent) => {
      const text = JSON.stringify([one, { filler: x, one }], null, indent);
      expect(JSON.stringify(await parse(text))).toBe(JSON.stringify(JSON.parse(text)));
    }),
  );
});

test("text that is changed in one place is read or refused as JSON.parse does", async () => {
  const text = JSON.stringify({
    a: [1, "b", { c: null }],
    long: long('"\\é'),
    list: [[], {}, "x", long("z")],
    d: -1.5e3,
  });
  const outcome = async (read: () => unknown) => {
    try {
      return JSON.stringify(await read());
    } catch (error) {
      return (error as Error).name;
    }
  };
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.nat({ max: 40 }),
        fc.nat({ max: 60 }).map((back) => text.length - 1 - back),
        fc.nat({ max: text.length - 1 }),
      ),
      fc.constantFrom("", '"', "\\", ",", ":", "[", "]", "{", "}", "1", " ", "\n"),
      fc.nat({ max: 2 }),
      async (at, inserted, removed) => {
        const changed = text.slice(0, at) + inserted + text.slice(at + removed);
        expect(await outcome(() => parse(changed))).toBe(await outcome(() => JSON.parse(changed)));
      },
    ),
    { numRuns: 500 },
  );
});

test.each([
  ["line ends", "\\n"],
  ["escaped quotes", '\\"'],
  ["backslashes", "\\\\"],
  ["accents as escapes", "\\u00e9"],
  ["Chinese", "漢"],
  ["spaces between values", undefined],
])("40 MB of %s do not hold the event loop", async (_title, unit) => {
  const bytes = Buffer.alloc(40_000_000, unit ?? " ");
  if (unit) bytes.write('["', 0);
  else bytes.write("[1", 0);
  const body = Buffer.concat([
    bytes.subarray(0, bytes.length - (bytes.length % (unit?.length ?? 1))),
    Buffer.from(unit ? '"]' : "]"),
  ]);
  await parse("[1]");
  expect(await longestTurn(() => parseLargeJson(body))).toBeLessThan(50);
});
