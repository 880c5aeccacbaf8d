import type { Usage } from "#events/thread.ts";
import type { ModelEvent, ModelRequest } from "#services/turns/model.ts";
import type { Client } from "../wire/client.ts";
import { createSizeLimit, endAnswer, outputPieces, PROGRESS } from "../wire/output.ts";
import { readUntilFinished } from "../wire/readUntilFinished.ts";
import { sumUsage, toFinishReason, toUsage } from "./answer.ts";
import { createPageCollector } from "./citations.ts";
import { modelPath } from "./client.ts";
import type { ModelFacts } from "./facts.ts";
import { createPartAssembler } from "./partAssembler.ts";
import { readAnswer, type PlacedChunk } from "./readAnswer.ts";
import { toRequestBody } from "./request.ts";

/** The finish reason used for a blocked prompt, which gets no candidate. */
const BLOCKED = "SAFETY";

/**
 * Sends a request and yields the answer. The provider always streams, because a connection that is silent for minutes gets closed;
 * buffered requests still get the answer in one piece. Throws ModelErrors, and errors of the network and the parsers if an answer
 * breaks off.
 */
export async function* complete(
  { client, api_key }: { client: Client; api_key: string },
  request: ModelRequest,
  facts: ModelFacts,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const body = toRequestBody(request, facts);
  const path = `${modelPath(request.model)}:streamGenerateContent?alt=sse`;
  const addSize = createSizeLimit(request);
  const parts = createPartAssembler();
  const pages = createPageCollector();
  let reason: string | null = null;
  /** The usage of each request, because one answer may take several. */
  const usages: Usage[] = [];
  const send = async (sendSignal: AbortSignal) =>
    readAnswer(
      (token) =>
        client(path, sendSignal, { ...body, ...(token !== undefined && { continuationToken: token }) }, request.share),
      api_key,
    );
  function* toEvents({ chunk, request: at }: PlacedChunk): Generator<ModelEvent> {
    if (chunk.usageMetadata) usages[at] = toUsage(chunk.usageMetadata);
    const [candidate] = chunk.candidates;
    if (!candidate && chunk.promptFeedback) reason = BLOCKED;
    if (!candidate) return;
    for (const part of candidate.content?.parts ?? []) {
      addSize(JSON.stringify(part).length);
      for (const piece of parts.add(part)) if (request.streamed) yield piece;
      if (request.streamed && (part.functionCall || part.toolCall || part.toolResponse)) yield PROGRESS;
    }
    pages.add(candidate);
    reason = candidate.finishReason ?? reason;
  }
  yield* readUntilFinished({ send, toEvents, isFinished: () => reason !== null }, signal);
  const { output } = parts;
  if (!request.streamed && reason !== null) yield* outputPieces(output);
  const batch = parts.batch();
  yield* endAnswer(request, {
    output,
    batch,
    citations: pages.citations(output.text.length),
    finish_reason: reason === null ? undefined : toFinishReason(reason, batch !== undefined),
    usage: sumUsage(usages),
  });
}
