import { expect, test } from "vitest";
import { formatCost, formatDuration, formatExact, formatPrice, withReadableTimes } from "./index.ts";

test.each([
  ["0", "$0.00"],
  ["0.5", "$0.50"],
  ["12.3", "$12.30"],
  ["0.00123", "$0.0012"],
])("a cost of %s is %s", (cost, shown) => {
  expect(formatCost(cost)).toBe(shown);
});

test("a price shows every digit, and at least two digits of cents", () => {
  expect([formatPrice("0.5"), formatPrice("0.0750")]).toEqual(["$0.50", "$0.075"]);
});

test("times in a message are shown in the person's time zone, and the rest of the message is unchanged", () => {
  const at = "2026-11-29T00:00:00.000Z";
  expect(withReadableTimes(`It has used 7 of 2026-11. It begins again at ${at}, not ${at}.`)).toBe(
    `It has used 7 of 2026-11. It begins again at ${formatExact(at)}, not ${formatExact(at)}.`,
  );
});

test("an exact time includes its time zone", () => {
  const zone = new Intl.DateTimeFormat("en-GB", { timeZoneName: "short" })
    .formatToParts(Date.parse("2026-11-26T03:36:39Z"))
    .find(({ type }) => type === "timeZoneName")!.value;
  expect(formatExact("2026-11-26T03:36:39Z").endsWith(` ${zone}`)).toBe(true);
});

test.each([
  [12, "12 ms"],
  [1_000, "1 s"],
  [3_449, "3.4 s"],
  [60_000, "1 min"],
  [125_000, "2 min 5 s"],
  [3 * 3_600_000, "3 h"],
  [52 * 3_600_000, "2 d 4 h"],
])("%i milliseconds are %s", (ms, shown) => {
  expect(formatDuration(ms)).toBe(shown);
});
