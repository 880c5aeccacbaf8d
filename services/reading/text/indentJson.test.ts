import { expect, test } from "vitest";
import { indentJson } from "./indentJson.ts";

test("JSON is indented as people write it", () => {
  const value = { a: [1, -2.5e3, true, null, "x, {y}: [z]"], b: {}, c: [], d: [[], [{}]], e: 'a "b"\\ \n' };
  expect(indentJson(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2));
  expect(indentJson(JSON.stringify(value, null, "\t"))).toBe(JSON.stringify(value, null, 2));
  expect(indentJson('"word"')).toBe('"word"');
});

test("keys that occur twice stay, in their order, and long numbers keep their digits", () => {
  const source = '{"2":1,"10":1.10,"2":{"__proto__":12345678901234567890},"2":"\\u65e5"}';
  expect(indentJson(source).split("\n")).toEqual([
    "{",
    '  "2": 1,',
    '  "10": 1.10,',
    '  "2": {',
    '    "__proto__": 12345678901234567890',
    "  },",
    '  "2": "日"',
    "}",
  ]);
});

test("invalid JSON stays as it is, and so does JSON that is nested so deeply that it would be mostly spaces", () => {
  expect(indentJson('{"a":')).toBe('{"a":');
  const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
  expect(indentJson(deep)).toBe(deep);
});
