import { expect, test } from "vitest";
import { describeVersion, versionChoices } from "./versionWords.ts";

test("every version can be chosen, and listed versions show their time", () => {
  const listed = [3, 2].map((version) => ({ version, created_at: "2026-01-01T00:00:00.000Z" }));
  const choices = versionChoices({ data: listed, total: 3 });
  expect(choices.map(({ value }) => value)).toEqual(["3", "2", "1"]);
  expect(choices.map(({ label }) => label.includes("2026"))).toEqual([true, true, false]);
});

test("only version 1 is called the first version", () => {
  expect(describeVersion({ version: 1 }, null)).toBe("The first version, as it was saved.");
  expect(describeVersion({ version: 71 }, null)).toBe("Version 71, as it was saved.");
  expect(describeVersion({ version: 71 }, { version: 70 })).toContain("version 70 has not");
});
