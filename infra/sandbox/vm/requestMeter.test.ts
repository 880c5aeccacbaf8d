import { expect, test } from "vitest";
import { createRequestMeter } from "./requestMeter.ts";

const LIMITS = { maxSize: 10, maxPending: 3, maxPendingSize: 20, maxTotal: 5 };

/** Positive sizes start a request, negative ones finish it. */
test.each<[title: string, operations: number[], size: number, refusal: string | undefined]>([
  ["lets a request of the maximum size start", [], 10, undefined],
  ["refuses a larger request", [], 11, "The request is too large."],
  ["refuses more pending requests than the limit", [1, 1, 1], 1, "Too many requests at once."],
  ["lets a request start when a pending one has finished", [1, 1, 1, -1], 1, undefined],
  ["refuses more pending bytes than the limit", [10, 5], 6, "Too many requests at once."],
  ["frees the size of a finished request", [10, 5, -5], 6, undefined],
  ["refuses more requests in all than the limit", [1, -1, 1, -1, 1, -1, 1, -1, 1, -1], 1, "Too many requests."],
])("A request meter %s", (_, operations, size, refusal) => {
  const meter = createRequestMeter(LIMITS);
  for (const operation of operations) {
    if (operation > 0) meter.start(operation);
    else meter.finish(-operation);
  }
  expect(meter.refusal(size)).toBe(refusal);
  expect(meter.hasPending()).toBe(operations.reduce((sum, operation) => sum + Math.sign(operation), 0) > 0);
});
