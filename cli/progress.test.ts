import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { formatBar } from "./progress.ts";

const barText = (done: number, of: number) => stripVTControlCharacters(formatBar("Verifying", "events", done, of));

test("a progress bar is filled in proportion to the work done, up to its full width", () => {
  expect(barText(0, 5_000)).toBe(`Verifying  ${"░".repeat(30)}   0 %  0 of 5,000 events`);
  expect(barText(2_500, 5_000)).toBe(`Verifying  ${"█".repeat(15)}${"░".repeat(15)}  50 %  2,500 of 5,000 events`);
  expect(barText(6_000, 5_000)).toContain(`${"█".repeat(30)} 100 %`);
  expect(barText(0, 0)).toContain("100 %");
});
