import { describe, expect, test } from "vitest";
import { exceededLimit, threadToEvict } from "./threadLimits.ts";

const LIMIT_MS = 2_000;
const start = { slice: 1, cpuMs: 100 };

describe("A thread", () => {
  test.each([
    ["within the limit and its grace period may continue", { slice: 1, isSpeculative: false }, 2_600, undefined],
    ["beyond both has computed for too long", { slice: 1, isSpeculative: false }, 2_601, "computing"],
    ["that has started another slice may continue", { slice: 2, isSpeculative: false }, 9_999, undefined],
    ["with a speculative step may use the grace period", { slice: 1, isSpeculative: true }, 600, undefined],
    [
      "with a speculative step beyond the grace period has to end",
      { slice: 1, isSpeculative: true },
      601,
      "speculating",
    ],
  ])("%s", (_, status, cpuMs, exceeded) => {
    expect(exceededLimit(status, start, cpuMs, LIMIT_MS)).toBe(exceeded);
  });
});

describe("When threads hold too much memory", () => {
  const threads = (...held: [tenant: string, bytes: number][]) =>
    held.map(([tenant, bytes], n) => ({ n, tenant, bytes }));
  test.each([
    ["none is evicted at the limit", threads(["a", 60], ["b", 40]), undefined],
    ["the only one is evicted", threads(["a", 101]), 0],
    ["the largest thread of the largest tenant is evicted", threads(["a", 30], ["b", 50], ["a", 40]), 2],
    ["the largest thread of another tenant stays", threads(["a", 60], ["b", 35], ["b", 35]), 1],
  ])("%s", (_, held, evicted) => {
    expect(threadToEvict(held, 100)).toBe(evicted);
  });
});
