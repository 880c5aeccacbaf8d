import type { Citation, FinishReason, Usage } from "#events/thread.ts";
import { asCount, asObject, asText, asTokenCount } from "../wire/json.ts";

/*
 * Chat completions, whole or in chunks, with the fields that we read. An answer has a chunk for every word, and a schema took a sixth
 * of the memory of a streamed turn.
 */

/** Maximum items read of choices and other lists. Each is validated separately, and a server may send hundreds of thousands of empty ones. */
const MAX_CHOICES = 8;
const MAX_LISTED = 1_000;

/** A whole completion, or one chunk of a stream. What is in it is checked when it is read. */
export interface Completion {
  choices: unknown[];
  usage?: unknown;
}

export const isCompletion = (raw: unknown): raw is Completion => Array.isArray(asObject(raw)?.choices);

/** A whole call, or a chunk of a streamed one; servers leave out any of the fields. */
export interface CallChunk {
  index: number | undefined;
  id: string | undefined;
  function: { name: string | undefined; arguments: string | undefined } | undefined;
  extra_content: unknown;
}

/** The content of a completion's or a chunk's first choice; requests never ask for more. */
export interface AnswerPiece {
  text: string;
  refusal: string;
  reasoning: string;
  citations: Citation[];
  calls: CallChunk[];
  /** Reasoning in the field that some providers require back with the calls. */
  reasoning_content: string;
  finish_reason: string | null;
}

const NONE: never[] = [];
/** What `read` makes of the items of a list. */
const readItems = <T>(list: unknown, read: (item: unknown) => T[]): T[] =>
  Array.isArray(list) ? list.slice(0, MAX_LISTED).flatMap(read) : NONE;

/** Some servers send the text as a list of parts. */
const readText = (content: unknown): string =>
  asText(content) ?? readItems(content, (part) => [asText(asObject(part)?.text) ?? ""]).join("");

function readCitation(raw: unknown): Citation[] {
  const source = asObject(asObject(raw)?.url_citation);
  const url = asText(source?.url);
  if (!source || url === undefined) return [];
  const { title, start_index, end_index } = source;
  return [
    { url, title: asText(title) ?? "", start_index: asCount(start_index) ?? 0, end_index: asCount(end_index) ?? 0 },
  ];
}

function readCall(raw: unknown): CallChunk[] {
  const call = asObject(raw);
  if (!call) return [];
  const part = asObject(call.function);
  return [
    {
      index: asCount(call.index),
      id: asText(call.id),
      function: part && { name: asText(part.name), arguments: asText(part.arguments) },
      extra_content: call.extra_content,
    },
  ];
}

/** Servers may leave out the index. */
function findFirstChoice(choices: unknown[]): Record<string, unknown> | undefined {
  for (let n = 0; n < Math.min(choices.length, MAX_CHOICES); n++) {
    const choice = asObject(choices[n]);
    if (choice && (choice.index === 0 || !Number.isSafeInteger(choice.index))) return choice;
  }
  return undefined;
}

/** Undefined if there is no first choice. */
export function toAnswerPiece({ choices }: Completion): AnswerPiece | undefined {
  const choice = findFirstChoice(choices);
  if (!choice) return undefined;
  const message = asObject(choice.delta) ?? asObject(choice.message) ?? {};
  const reasoning_content = asText(message.reasoning_content) ?? "";
  return {
    text: readText(message.content),
    refusal: asText(message.refusal) ?? "",
    reasoning: reasoning_content || (asText(message.reasoning) ?? ""),
    citations: readItems(message.annotations, readCitation),
    calls: readItems(message.tool_calls, readCall),
    reasoning_content,
    finish_reason: asText(choice.finish_reason) || null,
  };
}

const FINISH_REASONS = new Map<string, FinishReason>([
  ["length", "length"],
  ["content_filter", "content_filter"],
  ["tool_calls", "tool_calls"],
  ["function_call", "tool_calls"],
]);

/** Any other reason still means that the model has finished. */
export const toFinishReason = (raw: string): FinishReason => FINISH_REASONS.get(raw) ?? "stop";

/** The provider's counts; undefined if it reported none. */
export function toUsage(raw: unknown): Usage | undefined {
  const usage = asObject(raw);
  const prompt_tokens = asTokenCount(usage?.prompt_tokens);
  const completion_tokens = asTokenCount(usage?.completion_tokens);
  if (prompt_tokens === undefined || completion_tokens === undefined) return undefined;
  return {
    prompt_tokens,
    completion_tokens,
    cached_tokens: asTokenCount(asObject(usage?.prompt_tokens_details)?.cached_tokens) ?? 0,
    reasoning_tokens: asTokenCount(asObject(usage?.completion_tokens_details)?.reasoning_tokens) ?? 0,
  };
}
