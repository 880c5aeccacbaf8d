import { expect, test } from "vitest";
import { modelRequest, filePart } from "#test/doubles/modelRequest.ts";
import { countPrompt, countTokens, firstTokens } from "./tokens.ts";

test.each([
  ["", 0],
  ["Hello, world", 3],
  ["<|endoftext|>", 7],
  ["\ud800 lone", 2],
])("%j has %i tokens", async (text, tokens) => {
  expect(await countTokens(text)).toBe(tokens);
});

test("tokens beyond 64,000 characters are estimated", async () => {
  const prose = "The quick brown fox jumps over the lazy dog. ";
  const tokens = await countTokens(prose.repeat(10_000));
  expect(Math.abs(tokens - 100_000)).toBeLessThan(2_000);
});

test("a run of one letter is counted in slices", async () => {
  expect(await countTokens("a".repeat(100_000))).toBeGreaterThan(10_000);
});

test("a prompt counts its instructions and texts, plus 4 tokens for each", async () => {
  expect(await countPrompt(modelRequest("Hello, world"))).toBe(7);
  expect(
    await countPrompt(
      modelRequest("Hello, world", { instructions: "Hello, world" }, [filePart("a", "text/plain", "x")]),
    ),
  ).toBe(14 + 1);
});

test("the first tokens of a text never end inside a character", async () => {
  const text = "Größe 🎈🎈🎈 ".repeat(300);
  for (const limit of [0, 1, 2, 3, 4, 5, 6, 500, 1_000]) {
    const first = await firstTokens(text, limit);
    expect(text.startsWith(first)).toBe(true);
    expect(first.isWellFormed()).toBe(true);
    expect(await countTokens(first)).toBeLessThanOrEqual(limit);
  }
  expect(await firstTokens(text, 1_000_000)).toBe(text);
});
