import { randomUUID } from "node:crypto";
import type { Citation, FinishReason, ToolCall } from "#events/thread.ts";
import type { ModelEvent, ModelRequest } from "#services/turns/model.ts";
import { countPrompt, countTokens, firstTokens } from "../tokens.ts";

/** A long text comes in as many chunks at most, so that it floods nobody. */
const MAX_CHUNKS = 256;

/** Text by words, each with the space behind it. */
export function chunksOf(text: string): string[] {
  const words = text.match(/\s*\S+\s*/g) ?? (text === "" ? [] : [text]);
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
  /** Sources of the text; those beyond what is said of it are left out. */
  citations?: Citation[];
  /** What to wait for before each chunk. */
  pause?: () => Promise<void> | undefined;
}

/** Says a text as a model would: up to a stop sequence and the token limit, in chunks when it is streamed, and counted. */
export async function* speak(request: ModelRequest, speech: Speech): AsyncGenerator<ModelEvent> {
  const wanted = beforeStop(speech.text, request.stop);
  const text = request.max_output_tokens === null ? wanted : await firstTokens(wanted, request.max_output_tokens);
  const reasoning = speech.reasoning ?? "";
  if (reasoning !== "") yield { type: "reasoning", text: reasoning };
  const chunks = request.streamed ? chunksOf(text) : [text];
  for (const chunk of chunks) {
    await speech.pause?.();
    if (chunk !== "") yield { type: "text", text: chunk };
  }
  const citations = (speech.citations ?? []).filter(({ end_index }) => end_index <= text.length);
  if (citations.length > 0) yield { type: "citations", citations };
  const reasoning_tokens = await countTokens(reasoning);
  yield {
    type: "finish",
    finish_reason: speech.finish_reason ?? (text.length < wanted.length ? "length" : "stop"),
    usage: {
      prompt_tokens: await countPrompt(request),
      completion_tokens: (await countTokens(text)) + reasoning_tokens,
      cached_tokens: 0,
      reasoning_tokens,
    },
  };
}

/** Asks for tools, as a model would. */
export async function* askFor(request: ModelRequest, wanted: Omit<ToolCall, "id">[]): AsyncGenerator<ModelEvent> {
  yield { type: "tool_calls", calls: wanted.map((call) => ({ id: `call_${randomUUID()}`, ...call })) };
  yield {
    type: "finish",
    finish_reason: "tool_calls",
    usage: {
      prompt_tokens: await countPrompt(request),
      completion_tokens: await countTokens(JSON.stringify(wanted)),
      cached_tokens: 0,
      reasoning_tokens: 0,
    },
  };
}
