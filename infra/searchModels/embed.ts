import { z } from "zod";
import { EndpointFailed, type Embedder, type EmbeddingEndpoint } from "#services/knowledge/searchEndpoints.ts";
import type { GuardedFetch } from "../web/guardedFetch.ts";
import { postJson } from "./post.ts";

/** Bytes of a number in an answer, with its comma, and of what surrounds the numbers. */
const [NUMBER_BYTES, OTHER_BYTES] = [32, 64 * 1024];
/** Tokens beside the numbers: of each text, and of the whole answer. */
const [TEXT_TOKENS, OTHER_TOKENS] = [64, 1_000];
const MAX_TOKENS = 10_000_000;

const Answer = z.object({
  data: z.array(z.object({ index: z.int().optional(), embedding: z.array(z.number()) })),
  usage: z
    .object({ prompt_tokens: z.int().min(0).max(MAX_TOKENS).catch(0) })
    .optional()
    .catch(undefined),
});

/** Length 1: providers differ in whether their vectors have it. */
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

/** The vector of each text: `index` says which, where an endpoint sends it. */
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

/** Asks an endpoint of OpenAI's shape for vectors, within `timeout_ms`. */
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
