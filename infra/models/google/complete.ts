import type { GoogleGenAI } from "@google/genai";
import type { Usage } from "#events/thread.ts";
import type { ModelEvent, ModelRequest } from "#services/turns/model.ts";
import { createSizeLimit, endAnswer, outputPieces } from "../wire/output.ts";
import { inLists, readUntilFinished } from "../wire/readUntilFinished.ts";
import { Chunk, toFinishReason, toUsage } from "./answer.ts";
import { createPageCollector } from "./citations.ts";
import type { ModelFacts } from "./facts.ts";
import { createPartAssembler } from "./partAssembler.ts";
import { toGenerateParams } from "./request.ts";

/** The finish reason that stands for a blocked prompt, which gets no candidate. */
const BLOCKED = "SAFETY";

/**
 * Sends a request and yields the answer. The provider is always asked for a stream, because a connection that is silent for the
 * minutes of a long answer gets closed; buffered requests get the answer in one piece. `fetch` sends the requests of this answer.
 * Throws what the SDK throws, or a ModelError.
 */
export async function* complete(
  { client, fetch }: { client: GoogleGenAI; fetch: typeof globalThis.fetch },
  request: ModelRequest,
  facts: ModelFacts,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const { config, ...body } = toGenerateParams(request, facts);
  const addSize = createSizeLimit();
  const parts = createPartAssembler();
  const pages = createPageCollector();
  let reason: string | null = null;
  let usage: Usage | undefined;
  const send = async (abortSignal: AbortSignal) => {
    const options = { ...config, abortSignal, httpOptions: { fetch } };
    return inLists(await client.models.generateContentStream({ ...body, config: options }));
  };
  for await (const raw of readUntilFinished(send, () => reason !== null, signal)) {
    const chunk = Chunk.safeParse(raw).data;
    if (!chunk) continue;
    usage = chunk.usageMetadata ? toUsage(chunk.usageMetadata) : usage;
    const [candidate] = chunk.candidates;
    if (!candidate && chunk.promptFeedback) reason = BLOCKED;
    if (!candidate) continue;
    for (const part of candidate.content?.parts ?? []) {
      addSize(JSON.stringify(part).length);
      for (const piece of parts.add(part)) if (request.streamed) yield piece;
    }
    pages.add(candidate);
    reason = candidate.finishReason ?? reason;
  }
  const { output } = parts;
  if (!request.streamed && reason !== null) yield* outputPieces(output);
  const batch = parts.batch();
  yield* endAnswer(request, {
    output,
    batch,
    citations: pages.citations(output.text.length),
    finish_reason: reason === null ? undefined : toFinishReason(reason, batch !== undefined),
    usage,
  });
}
