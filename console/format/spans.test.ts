import { expect, test } from "vitest";
import { formatSpan, parseSpan } from "./spans.ts";

test.each([
  ["30 days", 2_592_000],
  [" 1 Day ", 86_400],
  ["90minutes", 5_400],
  ["2 weeks", 1_209_600],
  ["1 year", 31_536_000],
  ["45 seconds", 45],
])("%j is a number of seconds", (text, seconds) => {
  expect(parseSpan(text)).toBe(seconds);
});

test.each(["", "30", "days", "0 days", "-1 days", "1.5 days", "3 months", "1 day 2 hours", "9999999999 days"])(
  "%j is not a duration",
  (text) => {
    expect(parseSpan(text)).toBeUndefined();
  },
);

test.each([
  [604_800, "7 days"],
  [86_400, "1 day"],
  [90_000, "25 hours"],
  [5_400, "90 minutes"],
  [61, "61 seconds"],
])(
  "%j seconds are shown in the largest unit without a fraction, and parse back to the same number",
  (seconds, text) => {
    expect(formatSpan(seconds)).toBe(text);
    expect(parseSpan(text)).toBe(seconds);
  },
);
