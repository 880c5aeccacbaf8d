import type { Citation, FinishReason, ToolCall, Usage } from "#events/thread.ts";
import { ModelError, type ModelEvent, type ModelRequest } from "#services/turns/model.ts";
import { countPrompt, countTokens } from "../tokens.ts";
import { distinguishCalls } from "./callId.ts";

/** Largest answer, in UTF-16 units of everything that is kept of it. No model writes more; an endless answer is cut here. */
const MAX_ANSWER = 8 * 1024 * 1024;

/** The text and the reasoning of an answer so far. */
export interface Output {
  text: string;
  reasoning: string;
}
/** A piece of it that readers see. */
export type OutputPiece = { type: "text" | "reasoning"; text: string };

/** All tool calls of an answer. `opaque`: state that the provider wants back with their results. */
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

/** Tool calls of one answer. A turn runs 32 of a round; this bounds the work on a provider's word alone. */
const MAX_CALLS = 1_000;

/** Throws a ModelError for more calls than any answer needs. */
export function requireFewCalls(count: number): void {
  if (count > MAX_CALLS) throw new ModelError("cut", `The provider's answer has more than ${MAX_CALLS} tool calls.`);
}

/** The refusal of an answer that a filter stopped before its first word. After it, the finish reason says enough: clients add a refusal to the text. */
const FILTERED = "The provider's safety filter stopped the answer.";

/** How an answer ended. `finish_reason` is undefined if the provider gave none. */
interface Ending {
  output: Output;
  batch: CallBatch | undefined;
  citations?: Citation[];
  finish_reason: FinishReason | undefined;
  /** What the model said instead of an answer, or what stands for it. */
  refusal?: string | undefined;
  /** Of the provider; undefined if it counted nothing: the tokens are estimated. */
  usage: Usage | undefined;
}

/** A provider may count nonsense: no tokens at all are no count, and parts are never more than the whole. */
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

/** The last events of an answer. Throws a ModelError if the provider gave no reason to finish: the answer was cut. */
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
  const [prompt_tokens, text_tokens, reasoning_tokens] = await Promise.all([
    countPrompt(request),
    countTokens(output.text + (batch ? JSON.stringify(batch.calls) : "")),
    countTokens(output.reasoning),
  ]);
  return { prompt_tokens, completion_tokens: text_tokens + reasoning_tokens, cached_tokens: 0, reasoning_tokens };
}

/** The output of a whole answer, as one piece of each kind. */
export function* outputPieces({ text, reasoning }: Output): Generator<OutputPiece> {
  if (reasoning !== "") yield { type: "reasoning", text: reasoning };
  if (text !== "") yield { type: "text", text };
}
