import { expect, test } from "vitest";
import { findSimilarNames } from "./findSimilarNames.ts";

const KNOWN = [
  "openai/gpt-5",
  "openai/gpt-5-mini",
  "openai/gpt-4o",
  "anthropic/claude-sonnet-4-5",
  "azure/gpt-4o",
  "fast",
];

test.each([
  ["openai/gpt-5-mni", ["openai/gpt-5-mini"]],
  ["opnai/gpt-5-mini", ["openai/gpt-5-mini"]],
  ["OpenAI/GPT-5", ["openai/gpt-5"]],
  ["gpt-4o", ["azure/gpt-4o", "openai/gpt-4o"]],
  ["anthropic/claude-sonet-45", ["anthropic/claude-sonnet-4-5"]],
  ["fats", []],
  ["fst", ["fast"]],
  ["google/gemini-3-pro", []],
])("near %s are %j", async (wanted, near) =>
  expect((await findSimilarNames(wanted, KNOWN)).slice(0, near.length || 3)).toEqual(near),
);

test("a long list is searched without blocking the event loop", async () => {
  const many = Array.from({ length: 10_000 }, (_, n) => `openrouter/vendor-${n % 100}/model-${n}-instruct`);
  let turns = 0;
  const ticking = setInterval(() => turns++, 0);
  const near = await findSimilarNames("openrouter/vendor-7/model-107-instrct", many);
  clearInterval(ticking);
  expect(near[0]).toBe("openrouter/vendor-7/model-107-instruct");
  expect(turns).toBeGreaterThan(0);
});
