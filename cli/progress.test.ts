import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { bar } from "./progress.ts";

const shown = (done: number, of: number) => stripVTControlCharacters(bar("Verifying", "events", done, of));

test("a bar is filled as far as the work is done, and never beyond", () => {
  expect(shown(0, 5_000)).toBe(`Verifying  ${"░".repeat(30)}   0 %  0 of 5,000 events`);
  expect(shown(2_500, 5_000)).toBe(`Verifying  ${"█".repeat(15)}${"░".repeat(15)}  50 %  2,500 of 5,000 events`);
  expect(shown(6_000, 5_000)).toContain(`${"█".repeat(30)} 100 %`);
  expect(shown(0, 0)).toContain("100 %");
});
