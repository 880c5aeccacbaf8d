import type { ModelMessage, ModelRequest } from "#services/turns/model.ts";

type Encoding = typeof import("gpt-tokenizer/encoding/o200k_base");
let encoding: Promise<Encoding> | undefined;

/** Loading takes 0.15 s and 60 MB, so it waits for the first text that must be counted. */
const load = (): Promise<Encoding> => (encoding ??= import("gpt-tokenizer/encoding/o200k_base"));

/** A run of 100,000 equal letters takes the encoder 2.5 s; 64,000 in slices of 1,000 take 8 ms. */
const SLICE = 1_000;
/** What lies beyond is estimated from what was counted: 64,000 characters of prose take 3 to 5 ms. */
const COUNTED = 64_000;
/** Words such as <|endoftext|> are plain text to us. */
const PLAIN = { disallowedSpecial: new Set<string>() };

/** A text in slices, none of which ends within a surrogate pair. */
function* slices(text: string): Generator<{ at: number; slice: string }> {
  for (let at = 0; at < text.length; ) {
    const split = text.codePointAt(at + SLICE - 1)! > 0xffff;
    const slice = text.slice(at, at + SLICE + (split ? 1 : 0));
    yield { at, slice };
    at += slice.length;
  }
}

const countWith = ({ countTokens: count }: Encoding, text: string): number => {
  const counted = text.slice(0, COUNTED);
  const tokens = slices(counted).reduce((sum, { slice }) => sum + count(slice, PLAIN), 0);
  return counted.length === text.length ? tokens : Math.round((tokens * text.length) / counted.length);
};

/** Tokens of a text, to within a few per cent; models other than OpenAI's count differently anyway. */
export async function countTokens(text: string): Promise<number> {
  return text === "" ? 0 : countWith(await load(), text);
}

const textOf = (message: ModelMessage): string =>
  [
    ...message.parts.map((part) => (part.type === "text" ? part.text : "")),
    ...(message.role === "assistant" && message.calls ? [JSON.stringify(message.calls)] : []),
  ].join("\n");

/** What a request costs its model: the texts and tools, and 4 tokens around each of them. Attachments are not counted. */
export async function countPrompt(request: ModelRequest): Promise<number> {
  const count = await load();
  const texts = [...request.messages.map(textOf), ...request.tools.map((tool) => JSON.stringify(tool))];
  if (request.instructions !== null) texts.unshift(request.instructions);
  return texts.reduce((sum, text) => sum + countWith(count, text) + 4, 0);
}

/** A beginning of a text, as long as can be with at most so many tokens; it never ends within a surrogate pair. */
export async function firstTokens(text: string, limit: number): Promise<string> {
  const { countTokens: count } = await load();
  let left = limit;
  for (const { at, slice } of slices(text)) {
    const tokens = count(slice, PLAIN);
    if (tokens > left) return text.slice(0, at) + longestWithin(slice, (beginning) => count(beginning, PLAIN) <= left);
    left -= tokens;
  }
  return text;
}

/** By halves, because gpt-tokenizer's `decode` spills an unfinished character into the next text that it decodes. */
function longestWithin(text: string, fits: (beginning: string) => boolean): string {
  let [fitting, tooLong] = [0, text.length];
  while (tooLong - fitting > 1) {
    const middle = (fitting + tooLong) >> 1;
    if (fits(text.slice(0, middle))) fitting = middle;
    else tooLong = middle;
  }
  const splits = fitting > 0 && text.codePointAt(fitting - 1)! > 0xffff;
  return text.slice(0, splits ? fitting - 1 : fitting);
}
