import { RecordVectors } from "#events/document.ts";
import { Unavailable, type EventLog } from "#events/ports.ts";
import { NO_USAGE } from "#events/turnOutput.ts";
import type { ModelPrice } from "#events/price.ts";
import { document } from "../../deciders/document.ts";
import { keptVectors, storedDocument, type StoredDocument } from "../../deciders/documentState.ts";
import type { Send, CommandTarget } from "../../send.ts";
import { findState } from "../../states.ts";
import { openThingBlobs, type ThingBlobs, type VaultDeps } from "../../thingBlobs.ts";
import { withCost } from "../../turns/cost.ts";
import { readPassages, UnreadablePassages } from "../indexing/loadPassages.ts";
import { EndpointFailed, type Embedder, type EmbeddingEndpoint } from "../searchEndpoints.ts";
import { decodeVectors, encodeVectors, markPassages } from "./vectorBlob.ts";

/** Passages per document that get a vector. The others are found by their words only. */
const MAX_EMBEDDED_PASSAGES = 5_000;
/** Texts whose vectors are recorded together. If the process dies, at most this many were paid for in vain. */
const PART_TEXTS = 500;
/** Limits of one request. Its answer is parsed in one piece, and endpoints limit the tokens. */
const [MAX_TEXTS, MAX_NUMBERS, MAX_CHARACTERS] = [96, 65_536, 100_000];

export interface EmbedDeps extends VaultDeps {
  log: Pick<EventLog, "heads" | "read">;
  embedder: Embedder;
  send: Send;
  /** A point at which the crash harness may end the process. */
  failpoint(name: string): void;
}

export interface PricedEndpoint extends EmbeddingEndpoint {
  /** Undefined: the price of a token is unknown. */
  price: ModelPrice | undefined;
}

/** Splits texts into batches that fit into one request each. */
export function* splitBatches(
  texts: Iterable<[mark: string, text: string]>,
  dimensions: number,
): Generator<[mark: string, text: string][]> {
  const most = Math.max(1, Math.min(MAX_TEXTS, Math.floor(MAX_NUMBERS / dimensions)));
  let [batch, characters] = [[] as [string, string][], 0];
  for (const entry of texts) {
    if (batch.length === most || (batch.length > 0 && characters + entry[1].length > MAX_CHARACTERS)) {
      yield batch;
      [batch, characters] = [[], 0];
    }
    batch.push(entry);
    characters += entry[1].length;
  }
  if (batch.length > 0) yield batch;
}

/**
 * Makes vectors for a document's searchable texts, and records them in parts. Texts with stored vectors are not sent again. Throws
 * EndpointFailed once it has recorded the vectors made before, and UnreadablePassages if the document is damaged.
 */
export async function embedDocument(
  deps: EmbedDeps,
  target: CommandTarget & { document_id: string },
  endpoint: PricedEndpoint,
  signal: AbortSignal,
): Promise<void> {
  const state = storedDocument(await findState(deps.log, target.stream, document));
  const blobs = await openThingBlobs(deps, target);
  if (!state?.live || !blobs) return;
  const passages = await readPassages(blobs, { text: state.live, stream: target.stream });
  const marked = await markPassages(passages.slice(0, MAX_EMBEDDED_PASSAGES));
  // a text without a letter or a digit has no meaning
  const texts = new Map(marked.flatMap(({ mark, text }) => (/[\p{L}\p{N}]/u.test(text) ? [[mark, text]] : [])));
  const known = await storedVectors(blobs, { state, stream: target.stream }, endpoint);
  const missing = [...texts].filter(([mark]) => !known.has(mark));
  const kept = keptVectors(state, endpoint.space);
  // the first part replaces vectors in too many blobs, so it contains those that are still needed
  let carried = kept ? [] : [...known].filter(([mark]) => texts.has(mark));
  const needed = [...(kept?.blobs ?? [])];
  const record = async ({ vectors, tokens, requests }: EmbeddedPart, complete: boolean): Promise<void> => {
    const part = new Map([...carried, ...vectors]);
    carried = [];
    const usage = { ...NO_USAGE, prompt_tokens: tokens };
    const blob = part.size === 0 ? null : await blobs.put(await encodeVectors(part));
    await deps.send(target, RecordVectors.type, {
      document_id: target.document_id,
      generation: state.live!.generation,
      space: endpoint.space,
      dimensions: endpoint.dimensions,
      blob,
      complete,
      model: `embeddings/${endpoint.model}`,
      usage: tokens === 0 ? usage : withCost(usage, endpoint.price, requests),
    });
    if (blob !== null) needed.push(blob);
    deps.failpoint("after-vectors");
  };
  for (let from = 0; from === 0 || from < missing.length; from += PART_TEXTS) {
    const part = await embedPart(deps, endpoint, missing.slice(from, from + PART_TEXTS), signal);
    const isLast = from + PART_TEXTS >= missing.length;
    const isWhole = isLast && !part.failure;
    await record(part, isWhole && (from === 0 || (await areKept(deps, target.stream, endpoint, needed))));
    if (part.failure) throw part.failure;
  }
}

/**
 * Whether the document still has these blobs of vectors. With too many blobs it starts over, perhaps between two parts. Then it is
 * recorded as incomplete, and the next round makes the vectors that it lost.
 */
async function areKept(
  { log }: EmbedDeps,
  stream: string,
  { space }: EmbeddingEndpoint,
  needed: string[],
): Promise<boolean> {
  const state = storedDocument(await findState(log, stream, document));
  const kept = new Set(state && keptVectors(state, space)?.blobs);
  return needed.every((blob) => kept.has(blob));
}

async function storedVectors(
  blobs: ThingBlobs,
  { state, stream }: { state: StoredDocument; stream: string },
  { space, dimensions }: EmbeddingEndpoint,
) {
  const known = new Map<string, Float32Array>();
  try {
    for (const key of state.vectors?.space === space ? state.vectors.blobs : [])
      await decodeVectors(await blobs.get(key), dimensions, known);
  } catch (error) {
    if (error instanceof Unavailable) throw error;
    throw new UnreadablePassages(`the vectors of ${stream} cannot be opened`, { cause: error });
  }
  return known;
}

const HARMLESS_TEXT = "test";

interface EmbeddedPart {
  vectors: Map<string, Float32Array>;
  tokens: number;
  /** Requests that the endpoint answered. */
  requests: number;
  /** Why later texts of the part have no vectors. */
  failure: EndpointFailed | undefined;
}

/**
 * Embeds one part. A text that the endpoint refuses when sent alone gets no vector. If the endpoint fails after it has answered
 * requests, returns their vectors with the failure: they are paid, and a retry must not ask for them again. Throws EndpointFailed
 * if it has answered none.
 */
async function embedPart(
  { embedder }: EmbedDeps,
  endpoint: EmbeddingEndpoint,
  texts: [mark: string, text: string][],
  signal: AbortSignal,
): Promise<EmbeddedPart> {
  const vectors = new Map<string, Float32Array>();
  let [tokens, requests] = [0, 0];
  const ask = async (batch: string[]): Promise<Float32Array[]> => {
    const answer = await embedder.embed(endpoint, batch, signal);
    tokens += answer.tokens;
    requests++;
    return answer.vectors;
  };
  /** Tells a refused text from an endpoint that refuses every text, for example because it lacks the model. Throws its error then. */
  const checkWorks = async (): Promise<void> => {
    if (requests === 0) await ask([HARMLESS_TEXT]);
  };
  const embed = async (batch: [string, string][]): Promise<void> => {
    try {
      const found = await ask(batch.map(([, text]) => text));
      for (const [n, [mark]] of batch.entries()) vectors.set(mark, found[n]!);
    } catch (error) {
      if (!(error instanceof EndpointFailed && error.isRefusal)) throw error;
      const half = batch.length >> 1;
      if (half === 0) return checkWorks();
      await embed(batch.slice(0, half));
      await embed(batch.slice(half));
    }
  };
  let failure: EndpointFailed | undefined;
  try {
    for (const batch of splitBatches(texts, endpoint.dimensions)) await embed(batch);
  } catch (error) {
    if (!(error instanceof EndpointFailed) || requests === 0) throw error;
    failure = error;
  }
  return { vectors, tokens, requests, failure };
}
