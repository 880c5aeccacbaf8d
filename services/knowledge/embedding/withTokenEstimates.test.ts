import { expect, test } from "vitest";
import { withTokenEstimates } from "./withTokenEstimates.ts";

test("texts whose endpoint reports no tokens are estimated, others count as reported", async () => {
  const endpoint = { base_url: "http://a.test", api_key: "k", model: "m", dimensions: 1, space: "s" };
  const tokensOf = async (tokens: number) => {
    const embedder = {
      embed: async (_: unknown, texts: string[]) => ({ vectors: texts.map(() => Float32Array.of(1)), tokens }),
    };
    const { embed } = withTokenEstimates(embedder, async (text) => text.length);
    return (await embed(endpoint, ["one", "two"], new AbortController().signal)).tokens;
  };
  expect([await tokensOf(0), await tokensOf(9)]).toEqual(["one\ntwo".length, 9]);
});
