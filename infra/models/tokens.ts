import { Worker } from "node:worker_threads";
import type { ModelMessage, ModelRequest } from "#services/turns/model.ts";
import { openTokenThread } from "./askTokenThread.ts";

/*
 * Counts tokens in a separate thread, because the encoder takes 60 MB and 0.3 s to load. The thread starts with the first count:
 * where providers report the usage, it is not needed.
 */

/** Maximum UTF-16 units that are counted; the rest is extrapolated. 64,000 characters of prose take 3 to 5 ms, of JSON up to 40. */
const MAX_COUNTED = 64_000;

const ask = openTokenThread(
  () => new Worker(new URL("./tokenThread.ts", import.meta.url), { resourceLimits: { maxOldGenerationSizeMb: 256 } }),
);

/**
 * Counts the tokens of several texts. Only their first MAX_COUNTED units in total are counted, so that a long history costs no more
 * than a long text.
 */
async function countAll(texts: string[]): Promise<number> {
  const beginnings: string[] = [];
  let left = MAX_COUNTED;
  for (const text of texts) {
    if (left === 0) break;
    beginnings.push(text.slice(0, left));
    left -= Math.min(text.length, left);
  }
  const { tokens, units } = await ask({ texts: beginnings, limit: Infinity });
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  return units === length ? tokens : Math.round((tokens * length) / units);
}

/** Counts the tokens of a text, accurate to a few per cent for OpenAI's models; others count differently anyway. */
export async function countTokens(text: string): Promise<number> {
  return text === "" ? 0 : countAll([text]);
}

const countedText = (message: ModelMessage): string =>
  [
    ...message.parts.map((part) => (part.type === "text" ? part.text : "")),
    ...(message.role === "assistant" && message.calls ? [JSON.stringify(message.calls)] : []),
  ].join("\n");

/** Prompt tokens of a request: its texts and tools, plus 4 tokens for each. Attachments are not counted. */
export async function countPrompt(request: ModelRequest): Promise<number> {
  const texts = [...request.messages.map(countedText), ...request.tools.map((tool) => JSON.stringify(tool))];
  if (request.instructions !== null) texts.unshift(request.instructions);
  return (await countAll(texts)) + 4 * texts.length;
}

/** The longest prefix of a text with at most `limit` tokens. Never splits a surrogate pair. */
export async function firstTokens(text: string, limit: number): Promise<string> {
  let left = limit;
  for (let at = 0; at < text.length; ) {
    const splitsPair = text.codePointAt(at + MAX_COUNTED - 1)! > 0xffff;
    const part = text.slice(at, at + MAX_COUNTED + (splitsPair ? 1 : 0));
    const { tokens, units } = await ask({ texts: [part], limit: left });
    at += units;
    left -= tokens;
    if (units < part.length) return text.slice(0, at);
  }
  return text;
}
