import { expect, test } from "vitest";
import { tableHeader } from "./tableHeader.ts";

const HEADER = "| Work | Rate |\n| --- | ---: |";

test("a passage that begins within a table has the table's header", () => {
  expect(tableHeader({ lead: HEADER, text: "| Body labor | 57.50 |\n\nParts are charged at cost." })).toBe(HEADER);
  expect(tableHeader({ lead: "Work | Rate\n--- | ---", text: "Body labor | 57.50" })).toBe("Work | Rate\n--- | ---");
});

test("the end of the text before a passage is no header", () => {
  expect(tableHeader({ lead: "Parts are charged at cost.", text: "| Work | Rate |\n| --- | --- |" })).toBeUndefined();
  expect(tableHeader({ lead: `${HEADER}\n| Paint labor | 61.00 |`, text: "| Body labor | 57.50 |" })).toBeUndefined();
  expect(tableHeader({ lead: HEADER, text: "The table is empty." })).toBeUndefined();
  expect(tableHeader({ lead: "", text: "| Body labor | 57.50 |" })).toBeUndefined();
});
