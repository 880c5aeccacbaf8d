import fc from "fast-check";
import { expect, test } from "vitest";
import { toPicodollars } from "#events/money.ts";
import { picodollarsPerToken } from "#events/price.ts";
import type { Usage } from "#events/thread.ts";
import { filePart, modelRequest } from "#test/doubles/modelRequest.ts";
import { withCost } from "#services/turns/cost.ts";
import { endAnswer } from "./output.ts";

const price = { valid_from: null, input: "2", output: "8", cached_input: "0.5", cache_write: "2.5", reasoning: "9" };

async function countedAs(usage: Usage | undefined, request = modelRequest("Hi")): Promise<Usage> {
  const ending = { output: { text: "Hello", reasoning: "" }, batch: undefined, finish_reason: "stop" as const, usage };
  for await (const event of endAnswer(request, ending)) if (event.type === "finish") return event.usage;
  throw new Error("it has no end");
}

const tokens = fc.integer({ min: 0, max: 50_000 });
const counts = fc.record({
  prompt_tokens: tokens,
  completion_tokens: tokens,
  cached_tokens: tokens,
  cache_write_tokens: tokens,
  reasoning_tokens: tokens,
});

test("whatever a provider counts, parts are never more than the whole, and the cost lies between the prices", async () => {
  await fc.assert(
    fc.asyncProperty(counts, async (reported) => {
      const usage = await countedAs(reported);
      const { prompt_tokens, completion_tokens, cached_tokens, cache_write_tokens = 0, reasoning_tokens } = usage;
      expect(prompt_tokens + completion_tokens).toBeGreaterThan(0);
      expect(cached_tokens + cache_write_tokens).toBeLessThanOrEqual(prompt_tokens);
      expect(reasoning_tokens).toBeLessThanOrEqual(completion_tokens);
      const cost = toPicodollars(withCost(usage, price).cost!);
      const at = (input: string, output: string) =>
        BigInt(prompt_tokens) * picodollarsPerToken(input) + BigInt(completion_tokens) * picodollarsPerToken(output);
      expect(cost).toBeGreaterThanOrEqual(at("0.5", "8"));
      expect(cost).toBeLessThanOrEqual(at("2.5", "9"));
    }),
  );
});

test("a consistent count of the provider is kept", async () => {
  const usage = {
    prompt_tokens: 9,
    completion_tokens: 5,
    cached_tokens: 4,
    cache_write_tokens: 5,
    reasoning_tokens: 5,
  };
  expect(await countedAs(usage)).toEqual(usage);
});

test("where a provider counts nothing, files are estimated, too, as of a request that broke off", async () => {
  const { prompt_tokens } = await countedAs(undefined);
  const files = [filePart("a.png", "image/png", "x"), filePart("a.pdf", "application/pdf", "x".repeat(3_000))];
  const withFiles = await countedAs(undefined, modelRequest("Hi", {}, files));
  // a message with files has line feeds between its parts
  const ofFiles = withFiles.prompt_tokens - prompt_tokens;
  expect(ofFiles).toBeGreaterThanOrEqual(1_500 + 100);
  expect(ofFiles).toBeLessThan(1_500 + 110);
});
