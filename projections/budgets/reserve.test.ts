import { expect, test } from "vitest";
import { defaultPrice } from "#events/defaultPrices.ts";
import { EMPTY_PROMPT } from "#events/thread.ts";
import { encode } from "../projection.ts";
import { readPrices, reserveFor, sizeOfPrompt, type DeploymentProvider, type PricedModel } from "./reserve.ts";

const MICRO = 1_000_000n;
/** A million picodollars for each token that is read, and ten for each one that is written. */
const priced = (more: Partial<PricedModel> = {}): PricedModel => ({
  price: { valid_from: null, input: "1", output: "10" },
  answer: undefined,
  window: undefined,
  ...more,
});
const cost = (model: PricedModel, size: { bytes?: number; pictures?: number; max_output_tokens?: number | null }) =>
  reserveFor(() => model, ["m"], { bytes: 0, pictures: 0, max_output_tokens: null, ...size }) / MICRO;

test("the answer counts the request's limit, else the model's longest one, else 4,096 tokens", () => {
  expect(cost(priced({ answer: 16_384 }), { max_output_tokens: 7 })).toBe(70n);
  expect(cost(priced({ answer: 16_384 }), {})).toBe(163_840n);
  expect(cost(priced(), {})).toBe(40_960n);
});

test("the prompt counts each byte, 5,000 tokens for a picture, and no more than the window of the model", () => {
  const size = { bytes: 300_000, pictures: 2, max_output_tokens: 0 };
  expect(cost(priced(), size)).toBe(310_000n);
  expect(cost(priced({ window: 200_000 }), size)).toBe(200_000n);
});

test("a turn's own request counts its texts, instructions, tools and files", () => {
  const tool = { name: "t", description: "d".repeat(1_000), parameters: {} };
  const prompt = { ...EMPTY_PROMPT, instructions: "ää", client_tools: [tool] };
  const files = [
    { mime_type: "image/png", bytes: 1_000_000 },
    { mime_type: "application/pdf", bytes: 50_000 },
  ];
  const { bytes, pictures } = sizeOfPrompt(prompt, ["12345"], files);
  expect(pictures).toBe(1);
  expect(bytes).toBeGreaterThan(50_000 + 5 + 4 + 1_000);
  expect(bytes).toBeLessThan(50_000 + 5 + 4 + 1_200);
});

test("until the first price of the organization's own list begins, the published one is held", async () => {
  const heldInput = async (valid_from: string) => {
    const row = { model: encode("openai/gpt-4o"), prices: encode([{ valid_from, input: "7", output: "8" }]) };
    const db = { query: async (text: string) => (text.includes("read.prices") ? [row] : []) as never };
    return (await readPrices(db, "o", []))("openai/gpt-4o")?.price.input;
  };
  expect(await heldInput("2020-01-01T00:00:00.000Z")).toBe("7");
  expect(await heldInput("2999-01-01T00:00:00.000Z")).toBe(defaultPrice("openai/gpt-4o")?.input);
});

test("a published price is held only for requests to the provider's own address", async () => {
  const isHeld = async (deployment: DeploymentProvider[], own: { base_url: string | null }[] = []) => {
    const rows = own.map(({ base_url }) => ({
      name: encode("openai"),
      base_url: encode(base_url),
      models: null,
      format: null,
      context_windows: null,
      model: null,
    }));
    const db = { query: async (text: string) => (text.includes("read.providers") ? rows : []) as never };
    return (await readPrices(db, "o", deployment))("openai/gpt-4o") !== undefined;
  };
  const local = { provider: "openai", base_url: "http://localhost:8000/v1" };
  expect(await isHeld([])).toBe(true);
  expect(await isHeld([{ ...local, base_url: null }])).toBe(true);
  expect(await isHeld([local])).toBe(false);
  expect(await isHeld([local], [{ base_url: null }])).toBe(true);
  expect(await isHeld([], [{ base_url: local.base_url }])).toBe(false);
});
