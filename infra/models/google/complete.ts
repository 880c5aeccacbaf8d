import type { GoogleGenAI } from "@google/genai";
import type { Citation, Usage } from "#events/thread.ts";
import { ModelError, type ModelEvent, type ModelRequest } from "#services/turns/model.ts";
import { untilEnded } from "../wire/ending.ts";
import { createMeter, estimate, whole } from "../wire/said.ts";
import { finishReason, Piece, usageOf } from "./answer.ts";
import type { Facts } from "./facts.ts";
import { createPages } from "./pages.ts";
import { createParts } from "./parts.ts";
import { toWire } from "./request.ts";

/** A question that is blocked is not answered at all. */
const BLOCKED = "SAFETY";

/**
 * What the model says to a request. It is always asked for a stream, because nobody keeps a connection open for the minutes that
 * a long answer takes in silence; who waits for the whole gets it in one piece. `fetch` carries the requests. Throws what the SDK throws, or a ModelError.
 */
export async function* complete(
  { client, fetch }: { client: GoogleGenAI; fetch: typeof globalThis.fetch },
  request: ModelRequest,
  facts: Facts,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const { config, ...body } = toWire(request, facts);
  const meter = createMeter();
  const parts = createParts();
  const pages = createPages();
  let reason: string | null = null;
  let usage: Usage | undefined;
  const ask = (abortSignal: AbortSignal) =>
    client.models.generateContentStream({ ...body, config: { ...config, abortSignal, httpOptions: { fetch } } });
  for await (const raw of untilEnded(ask, () => reason !== null, signal)) {
    const piece = Piece.safeParse(raw).data;
    if (!piece) continue;
    usage = piece.usageMetadata ? usageOf(piece.usageMetadata) : usage;
    const [candidate] = piece.candidates;
    if (!candidate && piece.promptFeedback) reason = BLOCKED;
    if (!candidate) continue;
    for (const part of candidate.content?.parts ?? []) {
      meter(JSON.stringify(part).length);
      for (const word of parts.add(part)) if (request.streamed) yield word;
    }
    pages.add(candidate);
    reason = candidate.finishReason ?? reason;
  }
  if (reason === null) throw new ModelError("cut", "The provider's answer ended without a reason to finish.");
  const { text, reasoning } = parts.said;
  if (!request.streamed) yield* whole(parts.said);
  const asked = parts.asked();
  const finish_reason = finishReason(reason, asked !== undefined);
  const citations: Citation[] = pages.read().map((page) => ({ ...page, start_index: 0, end_index: text.length }));
  if (citations.length > 0) yield { type: "citations", citations };
  if (asked) yield { type: "tool_calls", ...asked };
  const spoken = text + (asked ? JSON.stringify(asked.calls) : "");
  yield { type: "finish", finish_reason, usage: usage ?? (await estimate(request, spoken, reasoning)) };
}
