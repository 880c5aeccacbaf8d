import { randomUUID } from "node:crypto";
import type { Citation, FinishReason, ToolCall } from "#events/thread.ts";
import { beginWork } from "#events/slices.ts";
import type { ModelEvent, ModelRequest } from "#services/turns/model.ts";
import { countPrompt, countTokens, firstTokens } from "../tokens.ts";

/** Maximum chunks of a streamed text, so that a long one does not flood its readers. */
const MAX_CHUNKS = 256;

/** Splits a text into words with the following space; a long one into larger chunks. The pattern is linear: it never backtracks. */
export function splitChunks(text: string): string[] {
  const words = text.match(/^\s+\S+\s*|\S+\s*|\s+/g) ?? [];
  const size = Math.ceil(words.length / MAX_CHUNKS);
  return Array.from({ length: Math.ceil(words.length / size) || 0 }, (_, n) =>
    words.slice(n * size, (n + 1) * size).join(""),
  );
}

const beforeStop = (text: string, stop: string[]): string => {
  const ends = stop.filter((sequence) => sequence !== "").map((sequence) => text.indexOf(sequence));
  return text.slice(0, Math.min(...ends.filter((end) => end !== -1), text.length));
};

export interface Speech {
  text: string;
  reasoning?: string;
  finish_reason?: FinishReason;
  /** Sources of the text. Those of a part that is cut off by the limit are dropped. */
  citations?: Citation[];
  /** Awaited before each chunk. */
  pause?: () => Promise<void> | undefined;
}

/** Yields a text as a model would: up to a stop sequence or the token limit, in chunks if streamed, with its usage. */
export async function* speak(request: ModelRequest, speech: Speech): AsyncGenerator<ModelEvent> {
  // turns that were committed together resume in one callback
  await beginWork()();
  const fullText = beforeStop(speech.text, request.stop);
  const text = request.max_output_tokens === null ? fullText : await firstTokens(fullText, request.max_output_tokens);
  const reasoning = speech.reasoning ?? "";
  if (reasoning !== "") yield { type: "reasoning", text: reasoning };
  const chunks = request.streamed ? splitChunks(text) : [text];
  for (const chunk of chunks) {
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
export async function* requestTools(request: ModelRequest, tools: Omit<ToolCall, "id">[]): AsyncGenerator<ModelEvent> {
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
