import { expect, test } from "vitest";
import { toPassageSearch } from "./search.ts";

const conditionsOf = (metadata: string) => toPassageSearch({ q: "rent", metadata }, undefined).filter.metadata;

test("conditions on one field are several values, or limits", () => {
  expect(conditionsOf('kind = lease, kind = "2024", year >= 2020, year < 2025')).toEqual({
    kind: ["lease", "2024"],
    year: { gte: 2020, lt: 2025 },
  });
});

test.each(["year = 2024, year >= 2020", "year >= 2020, year = 2024"])(
  "%j is refused: it would drop a condition",
  (text) => {
    expect(() => conditionsOf(text)).toThrow("“year” has a value and a limit");
  },
);
