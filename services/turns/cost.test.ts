import { describe, expect, test } from "vitest";
import { DEFAULT_PRICES } from "#events/defaultPrices.ts";
import { ModelPrice, priceAt } from "#events/price.ts";
import { NO_USAGE, type Usage } from "#events/thread.ts";
import { addUsage } from "#events/turnOutput.ts";
import { echoTool, lastEvent, stageTurn, times, USAGE } from "#test/doubles/turnStage.ts";
import { withCost } from "./cost.ts";
import { ModelError } from "./model.ts";

const price: ModelPrice = { valid_from: null, input: "3", output: "15" };
const usage = { prompt_tokens: 1000, completion_tokens: 200, cached_tokens: 0, reasoning_tokens: 0 };

describe("the cost of a request", () => {
  test.each([
    ["of tokens alone", price, usage, "0.006"],
    [
      "of cached tokens, at their own price",
      { ...price, cached_input: "0.3" },
      { ...usage, cached_tokens: 900 },
      "0.00357",
    ],
    ["of cached tokens without a price of their own", price, { ...usage, cached_tokens: 900 }, "0.006"],
    ["of cache writes", { ...price, cache_write: "3.75" }, { ...usage, cache_write_tokens: 1000 }, "0.00675"],
    ["of reasoning", { ...price, reasoning: "30" }, { ...usage, reasoning_tokens: 200 }, "0.009"],
    ["of the call itself", { ...price, per_call: "0.01" }, usage, "0.016"],
    ["of the smallest price", { ...price, input: "0.000001", output: "0" }, usage, "0.000000001"],
    ["that is free", { ...price, input: "0", output: "0" }, usage, "0"],
    [
      "whose parts are more than the whole",
      { ...price, cached_input: "0" },
      { ...usage, cached_tokens: 5_000, cache_write_tokens: 9 },
      "0.003",
    ],
    ["whose counts are negative", price, { ...usage, prompt_tokens: -5, cached_tokens: -9 }, "0.003"],
    ["of impossible counts", price, { ...usage, prompt_tokens: Number.MAX_SAFE_INTEGER }, "27021597764.225973"],
  ])("%s is the sum of its prices", (_, of, counted, cost) => {
    expect(withCost(counted, of)).toEqual({ ...counted, cost });
  });

  test("of several requests has the price of each call", () => {
    expect(withCost(usage, { ...price, per_call: "0.01" }, 3).cost).toBe("0.036");
  });

  test("is unknown, not zero, without a price or without a count", () => {
    expect(withCost(usage, undefined)).toEqual(usage);
    const nothing = { ...usage, prompt_tokens: 0, completion_tokens: 0 };
    expect(withCost(nothing, { ...price, per_call: "1" })).toEqual(nothing);
  });
});

test("tool calls that break off are paid each time that they are asked for", async () => {
  const turn = stageTurn({ rounds: [{ more: [{ type: "progress" }], error: new ModelError("cut", "It broke off.") }] });
  await turn.worker("w").start();
  expect(turn.requests).toHaveLength(3);
  // the last one is part of the end
  expect(turn.types()).toEqual(["TurnStarted", "TargetFailed", "TargetFailed", "TurnFailed"]);
  const prompt_tokens = 3 * JSON.stringify(turn.requests[0]!.messages).length;
  expect(lastEvent(turn)).toMatchObject({ type: "TurnFailed", data: { usage: { prompt_tokens } } });
});

test("the price that began last is valid, and none before the first begins", () => {
  const from = (valid_from: string | null, input: string) => ({ ...price, valid_from, input });
  const [first, second] = [from("2026-01-01T00:00:00.000Z", "1"), from("2026-06-01T00:00:00.000Z", "2")];
  const at = (moment: string) => priceAt([second, first], Date.parse(moment))?.input;
  expect(at("2025-12-31T23:59:59.999Z")).toBeUndefined();
  expect(at("2026-01-01T00:00:00.000Z")).toBe("1");
  expect(at("2026-05-31T23:59:59.999Z")).toBe("1");
  expect(at("2026-06-01T00:00:00.000Z")).toBe("2");
  expect(priceAt([second, from(null, "0.5")], Date.parse("2020-01-01"))?.input).toBe("0.5");
});

test("default prices are valid, dated, and each model has one", () => {
  for (const each of DEFAULT_PRICES) {
    expect(ModelPrice.safeParse(each.price).success, each.models[0]).toBe(true);
    expect(each.as_of).toMatch(/^\d{4}-\d\d-\d\d$/);
    expect(each.source).toMatch(/^https:/);
    const { input, output, cached_input } = each.price;
    expect(Number(cached_input)).toBeLessThan(Number(input));
    expect(Number(input)).toBeLessThan(Number(output));
  }
  const models = DEFAULT_PRICES.flatMap(({ models: names }) => names);
  expect(new Set(models).size).toBe(models.length);
});

describe("a turn", () => {
  // USAGE: 10 of the prompt, 1 of them cached; 2 of the answer, 1 of them reasoning
  const prices = [{ ...price, input: "1", output: "2", cached_input: "0.5", reasoning: "4", per_call: "0.01" }];
  const once = "0.0100155";

  test("ends with the cost of all its requests, and records that of each round", async () => {
    const turn = stageTurn({ rounds: [{ calls: ["one"] }, { text: ["Done"] }], tools: [echoTool("one")], prices });
    await turn.worker("w").start();
    expect(turn.events.find(({ type }) => type === "RoundRequested")!.data).toMatchObject({
      usage: { ...USAGE, cost: once },
    });
    expect(lastEvent(turn).data.usage.cost).toBe("0.020031");
  });

  test("that another worker takes over keeps the cost of the rounds before", async () => {
    const turn = stageTurn({ rounds: [{ calls: ["one"] }, { text: ["Done"] }], tools: [echoTool("one")], prices });
    await turn.worker("w", 3).start();
    const second = turn.worker("v");
    await second.sweep();
    const lost = turn.events.find(({ type }) => type === "TargetFailed")!.data as { usage: typeof USAGE };
    expect(lost.usage).toEqual(withCost({ ...NO_USAGE, prompt_tokens: lost.usage.prompt_tokens }, prices[0]));
    const { type, data } = lastEvent(turn);
    expect([type, data.attempt]).toEqual(["TurnCompleted", 2]);
    const known = addUsage({ ...times(USAGE, 2), cost: "0.020031" } as Usage, lost.usage);
    expect(data.usage).toEqual(known);
  });

  test("that breaks off has the cost of its rounds and of the estimated rest", async () => {
    const rounds = [{ calls: ["one"] }, { text: ["Half"], error: new Error("gone") }];
    const turn = stageTurn({ rounds, tools: [echoTool("one")], prices });
    await turn.worker("w").start();
    const { type, data } = lastEvent(turn);
    const estimated = withCost(
      {
        ...data.usage,
        prompt_tokens: data.usage.prompt_tokens - 10,
        completion_tokens: 4,
        cached_tokens: 0,
        reasoning_tokens: 0,
      },
      prices[0],
    );
    expect(type).toBe("TurnFailed");
    expect(Number(data.usage.cost)).toBeCloseTo(Number(once) + Number(estimated.cost), 12);
  });

  test("whose model has no price has no cost", async () => {
    const turn = stageTurn({ rounds: [{ text: ["Done"] }] });
    await turn.worker("w").start();
    expect(lastEvent(turn).data.usage).toEqual(USAGE);
  });
});
