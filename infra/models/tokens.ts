import type { ModelRequest } from "#services/turns/model.ts";

type Encoding = typeof import("gpt-tokenizer/encoding/o200k_base");
let encoding: Promise<Encoding> | undefined;

/** Loading takes 0.1 s and 50 MB, so it waits for the first text that must be counted. */
const load = (): Promise<Encoding> => (encoding ??= import("gpt-tokenizer/encoding/o200k_base"));

/** A run of 100,000 equal letters takes the encoder 2.5 s, in slices of 1,000 characters 25 ms. */
const SLICE = 1_000;
/** What lies beyond is estimated from what was counted: 64,000 characters of prose take 2 ms. */
const COUNTED = 64_000;
/** Words such as <|endoftext|> are plain text to us. */
const PLAIN = { disallowedSpecial: new Set<string>() };

const countWith = ({ countTokens: count }: Encoding, text: string): number => {
  let tokens = 0;
  const end = Math.min(text.length, COUNTED);
  for (let at = 0; at < end; at += SLICE) tokens += count(text.slice(at, Math.min(at + SLICE, end)), PLAIN);
  return end === text.length ? tokens : Math.round((tokens * text.length) / end);
};

/** Tokens of a text, to within a few per cent; models other than OpenAI's count differently anyway. */
export async function countTokens(text: string): Promise<number> {
  return text === "" ? 0 : countWith(await load(), text);
}

/** What a request costs its model: the texts, and 4 tokens around each message. Attachments are not counted. */
export async function countPrompt(request: ModelRequest): Promise<number> {
  const count = await load();
  const texts = request.messages.map(({ parts }) => parts.map((part) => (part.type === "text" ? part.text : "")).join("\n"));
  if (request.instructions !== null) texts.unshift(request.instructions);
  return texts.reduce((sum, text) => sum + countWith(count, text) + 4, 0);
}

/** The longest beginning of a text that has at most so many tokens; it never ends inside a character. */
export async function firstTokens(text: string, limit: number): Promise<string> {
  const { encode, decode } = await load();
  let left = limit;
  for (let at = 0; at < text.length; at += SLICE) {
    const tokens = encode(text.slice(at, at + SLICE), PLAIN);
    if (tokens.length > left) return text.slice(0, at) + decode(tokens.slice(0, left)).replace(/\uFFFD+$/, "");
    left -= tokens.length;
  }
  return text;
}
