import { expect, test } from "vitest";
import { LARGEST_WINDOW } from "#events/contextWindows.ts";
import { modelRequest } from "#test/doubles/modelRequest.ts";
import { estimateUsage } from "./estimateUsage.ts";

const counter = { countTokens: async (text: string) => text.length, countPrompt: async () => 100 };
const promptTokens = async (files: { bytes: number; pictures: number }, window?: number) =>
  (await estimateUsage(counter, { request: modelRequest("Look"), files, answer: "Well" }, window)).prompt_tokens;

test("files count beside the texts: each byte a token, a picture 5,000", async () => {
  expect(await promptTokens({ bytes: 0, pictures: 0 })).toBe(100);
  expect(await promptTokens({ bytes: 30, pictures: 2 })).toBe(100 + 30 + 10_000);
});

test("files count no more than the model reads, and texts in full", async () => {
  expect(await promptTokens({ bytes: 1_000_000, pictures: 0 }, 128_000)).toBe(128_000);
  expect(await promptTokens({ bytes: 20_000_000, pictures: 0 })).toBe(LARGEST_WINDOW);
  expect(await promptTokens({ bytes: 1_000, pictures: 0 }, 50)).toBe(100);
});
