import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { modelRequest } from "#test/doubles/modelRequest.ts";
import { askModel } from "./askModel.ts";
import { ModelError, type Model } from "./model.ts";
import { createRetryBudget } from "./retryBudget.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const askTimes = (budget: ReturnType<typeof createRetryBudget>, count: number, key = "k") => {
  for (let n = 0; n < count; n++) budget.countRequest(key);
};
const takeAll = (budget: ReturnType<typeof createRetryBudget>, key = "k") => {
  let taken = 0;
  while (budget.takeRetry(key)) taken += 1;
  return taken;
};

test("a fifth of the requests of the last minute may be sent again, and always sixty", () => {
  vi.setSystemTime(0);
  const budget = createRetryBudget();
  expect(takeAll(budget)).toBe(60);
  askTimes(budget, 1_000);
  expect(takeAll(budget)).toBe(140);
  vi.advanceTimersByTime(59_000);
  expect(budget.takeRetry("k")).toBe(false);
  vi.advanceTimersByTime(2_000);
  expect(takeAll(budget)).toBe(60);
});

test("each organization and provider has its own", () => {
  const budget = createRetryBudget();
  askTimes(budget, 1_000, "a/openai");
  expect([takeAll(budget, "a/openai"), takeAll(budget, "b/openai")]).toEqual([200, 60]);
});

test("a provider that is down gets each request once when the budget is used up, not three times", async () => {
  let asked = 0;
  const down: Model = {
    // oxlint-disable-next-line require-yield
    async *complete() {
      asked += 1;
      throw new ModelError("transient", "down", { status: 503 });
    },
  };
  const budget = createRetryBudget();
  const retries = { count: () => budget.countRequest("k"), take: () => budget.takeRetry("k") };
  const ask = () =>
    askModel(
      down,
      modelRequest("", { streamed: false }),
      new AbortController().signal,
      () => {},
      retries,
      async () => {},
    ).catch(() => "failed");
  const answers = Promise.all(Array.from({ length: 500 }, ask));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(new Set(await answers)).toEqual(new Set(["failed"]));
  expect(asked).toBe(500 + 100);
});
