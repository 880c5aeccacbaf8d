import { expect, test } from "vitest";
import { matchesFilter } from "#projections/passages/documentFilter.ts";
import type { Bounds } from "#projections/passages/engine.ts";
import { conditionMarks, metadataMarks } from "./marks.ts";

const NUMBERS = [
  -1e300, -2.5, -1, -0, 0, 1e-9, 0.1, 1, 2, 3, 15, 16, 17, 255, 1999, 2024, 2025, 1e6, 1234567.89, 1e300,
];
const document = (metadata: Record<string, string | number | boolean>) => ({
  tags: [],
  mime_type: "",
  created_at: new Date(),
  updated_at: new Date(),
  metadata,
});
const anything = { any_tags: [], all_tags: [], types: [], created: {}, updated: {} };
const marksOf = (value: string | number | boolean) => new Set(metadataMarks({ year: value }));
const marksWithin = (bounds: Bounds) => new Set(conditionMarks({ key: "year", bounds }));
const isMarked = (value: string | number | boolean, bounds: Bounds): boolean =>
  !marksOf(value).isDisjointFrom(marksWithin(bounds));

test("every number within bounds has a mark of the bounds, and those far outside have none", () => {
  const all = NUMBERS.map((value) => ({ value, marks: marksOf(value), document: document({ year: value }) }));
  for (const least of NUMBERS)
    for (const most of NUMBERS)
      for (const bounds of [{ gte: least, lte: most }, { gt: least, lt: most }, { gte: least }, { lt: most }]) {
        const sought = marksWithin(bounds);
        const filter = { ...anything, metadata: [{ key: "year", bounds }] };
        const missed = all.filter(
          ({ document: one, marks }) => matchesFilter(one, filter) && marks.isDisjointFrom(sought),
        );
        expect(missed.map(({ value }) => [value, bounds])).toEqual([]);
      }
  expect(isMarked(2023, { gte: 2024, lte: 2025 })).toBe(false);
  expect(isMarked(2026, { gte: 2024, lte: 2025 })).toBe(false);
  expect(isMarked("2024", { gte: 2024 })).toBe(false);
});

test("a document of many numbers has few marks, and so have bounds", () => {
  const most = Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`key${n}`, n * 1.1]));
  expect(metadataMarks(most).length).toBeLessThanOrEqual(160);
  expect(conditionMarks({ key: "a", bounds: { gte: -1.234e-50, lte: 9.87654321e50 } }).length).toBeLessThan(250);
});

test("values of different types are different, and so are keys", () => {
  const marks = (metadata: Record<string, string | number | boolean>) => new Set(metadataMarks(metadata));
  const isFound = (value: string | number | boolean, sought: string | number | boolean, key = "a") =>
    conditionMarks({ key, values: [sought] }).some((mark) => marks({ a: value }).has(mark));
  expect(isFound("1", "1")).toBe(true);
  expect(isFound(-0, 0)).toBe(true);
  for (const [value, sought, key] of [
    ["1", 1],
    ["true", true],
    ["A", "a"],
    ["x", "x", "b"],
  ] as const)
    expect(isFound(value, sought, key)).toBe(false);
});
