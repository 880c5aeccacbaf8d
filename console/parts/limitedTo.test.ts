import { expect, test } from "vitest";
import { limitedTo } from "./limitedTo.ts";

test("entries behind a switch that is off set no limit, and the form refuses them", () => {
  const limit = { field: "allowed_models", name: "Only these", what: "models" };
  expect(limitedTo(["a"], { ...limit, isOn: true })).toEqual(["a"]);
  expect(limitedTo([], { ...limit, isOn: true })).toEqual([]);
  expect(limitedTo([], { ...limit, isOn: false })).toBe(null);
  expect(() => limitedTo(["a"], { ...limit, isOn: false })).toThrow(
    "There are models that would limit nothing: choose “Only these”, or leave them out.",
  );
});
