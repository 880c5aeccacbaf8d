import type { Embedder } from "../searchEndpoints.ts";

/** Estimates the tokens of texts whose endpoint reports none, as for turns. Otherwise they would be free, and no budget would stop them. */
export const withTokenEstimates = ({ embed }: Embedder, countTokens: (text: string) => Promise<number>): Embedder => ({
  async embed(endpoint, texts, signal) {
    const answer = await embed(endpoint, texts, signal);
    return answer.tokens > 0 ? answer : { ...answer, tokens: await countTokens(texts.join("\n")) };
  },
});
