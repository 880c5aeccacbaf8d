import { expect, test } from "vitest";
import { readLimit } from "./readLimit.ts";

test("entries behind a switch that is off set no limit, and the form refuses them", () => {
  const limit = { field: "allowed_models", name: "Only these", what: "models" };
  expect(readLimit(["a"], { ...limit, isOn: true })).toEqual(["a"]);
  expect(readLimit([], { ...limit, isOn: true })).toEqual([]);
  expect(readLimit([], { ...limit, isOn: false })).toBe(null);
  expect(() => readLimit(["a"], { ...limit, isOn: false })).toThrow(
    "There are models that would limit nothing: choose “Only these”, or leave them out.",
  );
});
