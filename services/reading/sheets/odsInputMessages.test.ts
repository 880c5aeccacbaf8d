import { expect, test } from "vitest";
import { openOdsInputMessages } from "./odsInputMessages.ts";

/** A sheet with this many separate cells that show a message. */
const sheet = (count: number): string => {
  const help = '<table:help-message table:display="true"><text:p>In euros</text:p></table:help-message>';
  const validations = `<table:content-validations><table:content-validation table:name="v">${help}</table:content-validation></table:content-validations>`;
  const cells = '<table:table-cell/><table:table-cell table:content-validation-name="v"/>'.repeat(count);
  return `${validations}<table:table table:name="S"><table:table-row>${cells}</table:table-row></table:table>`;
};

test.each([
  [1, "B1", false],
  [20, "AN1", false],
  [21, "AN1", true],
  [50, "AN1", true],
])("of %i cells with a message, the last named one is %s", (count, last, hasMore) => {
  const [, names = ""] = /^- (.*): In euros$/m.exec(openOdsInputMessages(sheet(count))("S")) ?? [];
  expect(
    names
      .split(" ")
      .filter((name) => name !== "…")
      .at(-1),
  ).toBe(last);
  expect(names.endsWith(" …")).toBe(hasMore);
});
