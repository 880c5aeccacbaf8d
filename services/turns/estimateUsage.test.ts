import { expect, test } from "vitest";
import { LARGEST_WINDOW } from "#events/contextWindows.ts";
import type { SentFile } from "#events/requestSize.ts";
import { modelRequest } from "#test/doubles/modelRequest.ts";
import { estimateUsage } from "./estimateUsage.ts";

const counter = { countTokens: async (text: string) => text.length, countPrompt: async () => 100 };
const promptTokens = async (files: SentFile[], window?: number) =>
  (await estimateUsage(counter, { request: modelRequest("Look"), files, answer: "Well" }, window)).prompt_tokens;

const file = (mime_type: string, bytes: number): SentFile => ({ mime_type, bytes });

test("files count beside the texts as is usual: pictures by their number, others by their bytes", async () => {
  expect(await promptTokens([])).toBe(100);
  expect(await promptTokens([file("image/png", 9_000_000), file("image/jpeg", 10)])).toBe(100 + 3_000);
  expect(await promptTokens([file("text/csv", 4_001)])).toBe(100 + 1_001);
  expect(await promptTokens([file("application/pdf", 1_200_000)])).toBe(100 + 40_000);
});

test("files count no more than the model reads, and texts in full", async () => {
  expect(await promptTokens([file("application/pdf", 20_000_000)], 128_000)).toBe(128_000);
  expect(await promptTokens([file("text/plain", 20_000_000)])).toBe(LARGEST_WINDOW);
  expect(await promptTokens([file("image/png", 1_000)], 50)).toBe(100);
});
