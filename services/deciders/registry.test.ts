import { expect, test } from "vitest";
import { commandDefinitions } from "#events/index.ts";
import { deciders } from "./index.ts";

test("every command belongs to an aggregate that has a decider", () => {
  const withoutDecider = [...commandDefinitions.values()].filter(({ aggregate }) => !(aggregate in deciders));
  expect(withoutDecider.map(({ type }) => type)).toEqual([]);
});
