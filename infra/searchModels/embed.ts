import { z } from "zod";
import { EndpointFailed, type Embedder, type EmbeddingEndpoint } from "#services/knowledge/searchEndpoints.ts";
import type { GuardedFetch } from "../web/guardedFetch.ts";
import { postJson } from "./post.ts";

/** Maximum bytes of a number in an answer including its comma, and of everything around the numbers. */
const [NUMBER_BYTES, OTHER_BYTES] = [32, 64 * 1024];
/** Maximum tokens besides the numbers: per text, and for the whole answer. */
const [TEXT_TOKENS, OTHER_TOKENS] = [64, 1_000];
const MAX_TOKENS = 10_000_000;

const Answer = z.object({
  data: z.array(z.object({ index: z.int().optional(), embedding: z.array(z.number()) })),
  usage: z
    .object({ prompt_tokens: z.int().min(0).max(MAX_TOKENS).catch(0) })
    .optional()
    .catch(undefined),
});

/** Scales a vector to length 1, because providers differ in whether they do. */
function normalize(numbers: number[], dimensions: number): Float32Array {
  if (numbers.length !== dimensions)
    throw new EndpointFailed(
      `The endpoint answered with vectors of ${numbers.length} numbers instead of ${dimensions}.`,
    );
  const length = Math.hypot(...numbers);
  if (!Number.isFinite(length) || length === 0)
    throw new EndpointFailed("The endpoint answered with a vector without a direction.");
  return Float32Array.from(numbers, (value) => value / length);
}

/** The vectors by text. Endpoints may send an `index` with each. */
function readVectors(data: z.infer<typeof Answer>["data"], texts: number, dimensions: number): Float32Array[] {
  const vectors: Float32Array[] = [];
  for (const [n, { index = n, embedding }] of data.entries()) {
    if (index < 0 || index >= texts || vectors[index]) break;
    vectors[index] = normalize(embedding, dimensions);
  }
  if (data.length !== texts || Object.keys(vectors).length !== texts)
    throw new EndpointFailed(`The endpoint answered with ${data.length} vectors for ${texts} texts.`);
  return vectors;
}

/** Requests vectors from an endpoint with OpenAI's API, within `timeout_ms`. */
export const openEmbedder = (fetch: GuardedFetch, timeout_ms: number): Embedder => ({
  async embed(endpoint: EmbeddingEndpoint, texts, signal) {
    const { model, dimensions } = endpoint;
    const json = await postJson(fetch, endpoint, {
      path: "/embeddings",
      body: { model, input: texts, encoding_format: "float" },
      max_bytes: texts.length * dimensions * NUMBER_BYTES + OTHER_BYTES,
      max_tokens: texts.length * (dimensions + TEXT_TOKENS) + OTHER_TOKENS,
      timeout_ms,
      signal,
    });
    const answer = Answer.safeParse(json);
    if (!answer.success) throw new EndpointFailed("The endpoint's answer is not a list of embeddings.");
    const { data, usage } = answer.data;
    return { vectors: readVectors(data, texts.length, dimensions), tokens: usage?.prompt_tokens ?? 0 };
  },
});
