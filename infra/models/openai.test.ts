import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Credential } from "#services/turns/model.ts";
import { asking, finishOf, heard, textOf } from "#test/doubles/modelRequest.ts";
import { startProvider, type Provider } from "#test/doubles/provider.ts";
import { openModels } from "./index.ts";

let provider: Provider;
beforeAll(async () => {
  provider = await startProvider();
});
beforeEach(() => provider.script(() => undefined));
afterAll(() => provider.close());

const models = openModels({ offline: false, privateHosts: [] });
const credential = (): Credential => ({ provider: "test", api_key: "sk-test-canary", base_url: provider.url, guarded: false });
const model = () => models.open(credential());

const bothWays = [
  { way: "buffered", streamed: false },
  { way: "streamed", streamed: true },
];

describe.each(bothWays)("$way", ({ streamed }) => {
  test("the text comes with its usage", async () => {
    provider.script({
      text: "Good day to you.",
      usage: {
        prompt_tokens: 20,
        completion_tokens: 9,
        prompt_tokens_details: { cached_tokens: 16 },
        completion_tokens_details: { reasoning_tokens: 4 },
      },
    });
    const events = await heard(model(), asking("Hello", { streamed }));
    expect(textOf(events)).toBe("Good day to you.");
    expect(events.filter(({ type }) => type === "text")).toHaveLength(streamed ? 4 : 1);
    expect(finishOf(events)).toEqual({
      type: "finish",
      finish_reason: "stop",
      usage: { prompt_tokens: 20, completion_tokens: 9, cached_tokens: 16, reasoning_tokens: 4 },
    });
  });
});
