import { z } from "zod";
import { EndpointFailed, type SearchEndpoint } from "#services/knowledge/searchEndpoints.ts";
import type { GuardedFetch } from "../web/guardedFetch.ts";
import { postJson } from "./post.ts";

/** Maximum bytes of one result, which need not repeat its text, and of everything around the results. */
const [RESULT_BYTES, OTHER_BYTES] = [16 * 1024, 64 * 1024];
/** Maximum tokens of the same. */
const [RESULT_TOKENS, OTHER_TOKENS] = [64, 1_000];

const Answer = z.object({ results: z.array(z.object({ index: z.int(), relevance_score: z.number() })) });

/**
 * Asks an endpoint with the API of Cohere and Jina how relevant texts are. Returns the indexes of the texts, the most relevant
 * first; texts missing from the answer follow in their order. Throws EndpointFailed.
 */
export async function rerank(
  fetch: GuardedFetch,
  endpoint: SearchEndpoint,
  { query, texts }: { query: string; texts: string[] },
  { timeout_ms, signal }: { timeout_ms: number; signal: AbortSignal },
): Promise<number[]> {
  const json = await postJson(fetch, endpoint, {
    path: "/rerank",
    body: { model: endpoint.model, query, documents: texts, top_n: texts.length, return_documents: false },
    max_bytes: texts.length * RESULT_BYTES + OTHER_BYTES,
    max_tokens: texts.length * RESULT_TOKENS + OTHER_TOKENS,
    timeout_ms,
    signal,
  });
  const answer = Answer.safeParse(json);
  if (!answer.success) throw new EndpointFailed("The endpoint's answer is not a list of ranked texts.");
  const { results } = answer.data;
  const places = new Set(results.map(({ index }) => index));
  if (places.size !== results.length || results.some(({ index }) => index < 0 || index >= texts.length))
    throw new EndpointFailed("The endpoint ranked texts that it was not asked about, or one of them twice.");
  const ranked = results.toSorted((a, b) => b.relevance_score - a.relevance_score).map(({ index }) => index);
  return [...ranked, ...texts.keys().filter((place) => !places.has(place))];
}
