import { expect, test } from "vitest";
import { retryAfter } from "./retryAfter.ts";

const now = Date.UTC(2026, 0, 1);
const delay = (headers: Record<string, string>) => retryAfter(new Headers(headers), now);

test.each([
  ["0", 0],
  ["1", 1_000],
  ["1.5", 1_500],
  ["86400", 86_400_000],
  ["999999999999", 86_400_000],
  ["Fri, 01 Jan 9999 00:00:00 GMT", 86_400_000],
  ["Thu, 01 Jan 2026 00:01:00 GMT", 60_000],
  ["Wed, 31 Dec 2025 00:00:00 GMT", 0],
  ["-5", undefined],
  ["1e9", undefined],
  ["Infinity", undefined],
  ["soon", undefined],
  ["Someday", undefined],
  ["", undefined],
])("Retry-After: %j is a delay of %s ms", (value, expected) => {
  expect(delay({ "retry-after": value })).toBe(expected);
});

test("retry-after-ms takes precedence over Retry-After", () => {
  expect(delay({ "retry-after-ms": "250", "retry-after": "1" })).toBe(250);
  expect(delay({ "retry-after-ms": "x", "retry-after": "1" })).toBe(1_000);
  expect(delay({})).toBeUndefined();
});
