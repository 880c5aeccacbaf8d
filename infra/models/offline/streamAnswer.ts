import { randomUUID } from "node:crypto";
import type { Citation, FinishReason, ToolCall } from "#events/thread.ts";
import { createPause } from "#events/slices.ts";
import type { ModelEvent, ModelRequest } from "#services/turns/model.ts";
import { countPrompt, countTokens, firstTokens } from "../tokens.ts";

/** Maximum chunks of a streamed text, so that a long one does not flood its readers. */
const MAX_CHUNKS = 256;

/** Splits a text into words with the following space; a long one into larger chunks, each when it is asked for. */
export function* splitChunks(text: string): Generator<string> {
  const size = Math.ceil(text.length / MAX_CHUNKS);
  const restOfWord = /\S*\s*/y;
  let start = 0;
  for (let word = text.search(/\S/); start < text.length; word = start) {
    restOfWord.lastIndex = Math.min(word + size, text.length);
    restOfWord.test(text);
    yield text.slice(start, restOfWord.lastIndex);
    start = restOfWord.lastIndex;
  }
}

/** Maximum stop sequences that are looked for. Providers take a few; a request may have a hundred thousand. */
const MAX_STOPS = 16;

const beforeStop = (text: string, stop: string[]): string => {
  const sequences = stop.filter((sequence) => sequence !== "").slice(0, MAX_STOPS);
  const ends = sequences.map((sequence) => text.indexOf(sequence));
  return text.slice(0, Math.min(...ends.filter((end) => end !== -1), text.length));
};

export interface OfflineAnswer {
  text: string;
  reasoning?: string;
  finish_reason?: FinishReason;
  /** Sources of the text. Those of a part that is cut off by the limit are dropped. */
  citations?: Citation[];
  /** Awaited before each chunk. */
  pause?: () => Promise<void> | undefined;
}

/** Yields a text as a model would: up to a stop sequence or the token limit, in chunks if streamed, with its usage. */
export async function* streamAnswer(request: ModelRequest, speech: OfflineAnswer): AsyncGenerator<ModelEvent> {
  // turns that were committed together resume in one callback
  const letOthersWork = createPause();
  await letOthersWork();
  const fullText = beforeStop(speech.text, request.stop);
  const text = request.max_output_tokens === null ? fullText : await firstTokens(fullText, request.max_output_tokens);
  const reasoning = speech.reasoning ?? "";
  if (reasoning !== "") yield { type: "reasoning", text: reasoning };
  const chunks = request.streamed ? splitChunks(text) : [text];
  for (const chunk of chunks) {
    await letOthersWork();
    await speech.pause?.();
    if (chunk !== "") yield { type: "text", text: chunk };
  }
  const citations = (speech.citations ?? []).filter(({ end_index }) => end_index <= text.length);
  if (citations.length > 0) yield { type: "citations", citations };
  const reasoning_tokens = await countTokens(reasoning);
  yield {
    type: "finish",
    finish_reason: speech.finish_reason ?? (text.length < fullText.length ? "length" : "stop"),
    usage: {
      prompt_tokens: await countPrompt(request),
      completion_tokens: (await countTokens(text)) + reasoning_tokens,
      cached_tokens: 0,
      reasoning_tokens,
    },
  };
}

/** Calls tools, as a model would. */
export async function* streamToolCalls(
  request: ModelRequest,
  tools: Omit<ToolCall, "id">[],
): AsyncGenerator<ModelEvent> {
  yield { type: "tool_calls", calls: tools.map((call) => ({ id: `call_${randomUUID()}`, ...call })) };
  yield {
    type: "finish",
    finish_reason: "tool_calls",
    usage: {
      prompt_tokens: await countPrompt(request),
      completion_tokens: await countTokens(JSON.stringify(tools)),
      cached_tokens: 0,
      reasoning_tokens: 0,
    },
  };
}
