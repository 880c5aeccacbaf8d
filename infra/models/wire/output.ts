import { addFileTokens } from "#events/requestSize.ts";
import type { Citation, FinishReason, ToolCall, Usage } from "#events/thread.ts";
import { ModelError, type ModelEvent, type ModelRequest } from "#services/turns/model.ts";
import { countPrompt, countTokens } from "../tokens.ts";
import { distinguishCalls } from "./callId.ts";

/** Maximum UTF-16 units kept of an answer. No model writes more; endless answers are cut here. */
const MAX_ANSWER = 8 * 1024 * 1024;

/** The text and the reasoning of an answer so far. */
export interface Output {
  text: string;
  reasoning: string;
}
/** A piece of an answer that readers see. */
export type OutputPiece = { type: "text" | "reasoning"; text: string };

export const PROGRESS: ModelEvent = { type: "progress" };

/** All tool calls of an answer. `opaque`: state that the provider requires back with their results. */
export interface CallBatch {
  calls: ToolCall[];
  opaque?: unknown;
}

/** Adds up the size of an answer, also for its turn. Throws a ModelError above a limit. */
export function createSizeLimit({ share }: Pick<ModelRequest, "share">): (size: number) => void {
  let sum = 0;
  return (size) => {
    sum += size;
    share?.add(size);
    if (sum > MAX_ANSWER) throw new ModelError("cut", "The provider's answer exceeds the size limit.");
  };
}

/** Maximum tool calls parsed of one answer. A turn runs only 32 per round; this bounds the work that a provider can cause. */
const MAX_CALLS = 1_000;

/** Throws a ModelError if there are more calls than any answer needs. */
export function requireFewCalls(count: number): void {
  if (count > MAX_CALLS) throw new ModelError("cut", `The provider's answer has more than ${MAX_CALLS} tool calls.`);
}

/**
 * The refusal for an answer that a filter stopped before its first word. After the first word the finish reason is enough: clients
 * would append a refusal to the text.
 */
const FILTERED = "The provider's safety filter stopped the answer.";

/** How an answer ended. `finish_reason`: undefined if the provider sent none. */
interface Ending {
  output: Output;
  batch: CallBatch | undefined;
  citations?: Citation[];
  finish_reason: FinishReason | undefined;
  /** The model's refusal, or a message in its place. */
  refusal?: string | undefined;
  /** The provider's usage; undefined if it reported none, so that tokens are estimated. */
  usage: Usage | undefined;
}

/** Corrects implausible usage: zero tokens count as unreported, and parts are at most the whole. */
function plausibleUsage(usage: Usage | undefined): Usage | undefined {
  if (!usage || usage.prompt_tokens + usage.completion_tokens === 0) return undefined;
  const { prompt_tokens, completion_tokens, cache_write_tokens } = usage;
  const cached_tokens = Math.min(usage.cached_tokens, prompt_tokens);
  return {
    ...usage,
    cached_tokens,
    ...(cache_write_tokens !== undefined && {
      cache_write_tokens: Math.min(cache_write_tokens, prompt_tokens - cached_tokens),
    }),
    reasoning_tokens: Math.min(usage.reasoning_tokens, completion_tokens),
  };
}

/** The last events of an answer. Throws a ModelError if there is no finish reason, because the answer was cut off. */
export async function* endAnswer(request: ModelRequest, ending: Ending): AsyncGenerator<ModelEvent> {
  const { output, batch, citations = [], finish_reason, usage } = ending;
  const refusal = ending.refusal ?? (finish_reason === "content_filter" && output.text === "" ? FILTERED : undefined);
  if (finish_reason === undefined) throw new ModelError("cut", "The provider's answer ended without a finish reason.");
  if (citations.length > 0) yield { type: "citations", citations };
  if (refusal !== undefined) yield { type: "refusal", text: refusal };
  if (batch) yield { type: "tool_calls", ...batch, calls: distinguishCalls(batch.calls) };
  yield {
    type: "finish",
    finish_reason,
    usage: plausibleUsage(usage) ?? (await estimateUsage(request, output, batch)),
  };
}

async function estimateUsage(request: ModelRequest, output: Output, batch: CallBatch | undefined): Promise<Usage> {
  const files = request.messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === "file" ? [{ mime_type: part.mime_type, bytes: part.bytes.length }] : [])),
  );
  const [texts, text_tokens, reasoning_tokens] = await Promise.all([
    countPrompt(request),
    countTokens(output.text + (batch ? JSON.stringify(batch.calls) : "")),
    countTokens(output.reasoning),
  ]);
  const prompt_tokens = addFileTokens(texts, files);
  return { prompt_tokens, completion_tokens: text_tokens + reasoning_tokens, cached_tokens: 0, reasoning_tokens };
}

/** A complete answer as one piece of each kind. */
export function outputPieces({ text, reasoning }: Output): OutputPiece[] {
  const pieces: OutputPiece[] = [];
  if (reasoning !== "") pieces.push({ type: "reasoning", text: reasoning });
  if (text !== "") pieces.push({ type: "text", text });
  return pieces;
}
