import { expect, test } from "vitest";
import { tagsOf } from "./tags.ts";

const field = (value: unknown, truncated = false, name = "tags") => ({ name, value, truncated });

test("tags are fields, arrays, or both; each once, without the space around", () => {
  const fields = [field(" a "), field('["b", "a"]'), field(["c"]), field(""), field("x", false, "other"), field("[d")];
  expect(tagsOf(fields)).toEqual(["a", "b", "c", "[d"]);
  expect(tagsOf([])).toEqual([]);
  expect(tagsOf([field("x".repeat(70_000), true, "other")])).toEqual([]);
});

test.each([
  ["too long", [field("x".repeat(201))]],
  ["cut", [field("x", true)]],
  ["no text", [field("[1]")]],
  ["an object", [field({ a: 1 })]],
  ["too many", Array.from({ length: 101 }, (_, n) => field(String(n)))],
  ["an empty one among others", [field('["a", " "]')]],
])("%s is refused", (_name, fields) => {
  expect(() => tagsOf(fields)).toThrow(expect.objectContaining({ status: 400, errorCode: null, param: "tags" }));
});
