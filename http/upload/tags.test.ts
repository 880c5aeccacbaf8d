import { describe, expect, it } from "vitest";
import { readTags } from "./tags.ts";

const field = (value: unknown, truncated = false, name = "tags") => ({ name, value, truncated });

describe("the tags of a form", () => {
  it("may be fields, JSON arrays or both, are trimmed, and count once each", () => {
    const fields = [
      field(" a "),
      field('["b", "a"]'),
      field(["c"]),
      field(""),
      field("x", false, "other"),
      field("[d"),
    ];
    expect(readTags(fields)).toEqual(["a", "b", "c", "[d"]);
    expect(readTags([])).toEqual([]);
    expect(readTags([field("x".repeat(70_000), true, "other")])).toEqual([]);
  });

  it.each([
    ["a tag is too long", [field("x".repeat(201))]],
    ["a field was truncated", [field("x", true)]],
    ["an array has a number", [field("[1]")]],
    ["a field is an object", [field({ a: 1 })]],
    ["there are too many", Array.from({ length: 101 }, (_, n) => field(String(n)))],
    ["one of them is blank", [field('["a", " "]')]],
  ])("are refused when %s", (_case, fields) => {
    expect(() => readTags(fields)).toThrow(expect.objectContaining({ status: 400, errorCode: null, param: "tags" }));
  });

  it("are not read on once there are too many: a form has room for two million", () => {
    let read = 0;
    const tags = new Proxy(
      Array.from({ length: 20_000 }, () => "a"),
      { get: (all, key) => (read++, Reflect.get(all, key)) },
    );
    const fields = Array.from({ length: 100 }, () => field(tags));
    expect(() => readTags(fields)).toThrow("tags: must have 100 tags at most.");
    expect(read).toBeLessThan(100_000);
  });
});
