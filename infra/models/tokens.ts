import { beginWork } from "#events/slices.ts";
import type { ModelMessage, ModelRequest } from "#services/turns/model.ts";

type Encoding = typeof import("gpt-tokenizer/encoding/o200k_base");
let encoding: Promise<Encoding> | undefined;

/** Loading takes 0.3 s of the event loop, and 60 MB: processes that count do it before they take work. */
export const loadEncoding = (): Promise<Encoding> => (encoding ??= import("gpt-tokenizer/encoding/o200k_base"));

/** UTF-16 units encoded at once: 100,000 equal letters take the encoder 2.5 s, 64,000 in slices of 1,000 take 8 ms. */
const SLICE_SIZE = 1_000;
/** UTF-16 units counted; the rest is extrapolated. 64,000 characters of prose take 3 to 5 ms, of JSON up to 40. */
const MAX_COUNTED = 64_000;
/** Special tokens such as <|endoftext|> count as plain text. */
const PLAIN_TEXT = { disallowedSpecial: new Set<string>() };

/** Slices of a text; none ends inside a surrogate pair. */
function* slices(text: string): Generator<{ at: number; slice: string }> {
  for (let at = 0; at < text.length; ) {
    const splitsPair = text.codePointAt(at + SLICE_SIZE - 1)! > 0xffff;
    const slice = text.slice(at, at + SLICE_SIZE + (splitsPair ? 1 : 0));
    yield { at, slice };
    at += slice.length;
  }
}

/** Tokens of several texts; their first MAX_COUNTED units are counted, so that a long history costs no more than a long text. */
async function countWith({ countTokens: count }: Encoding, texts: string[]): Promise<number> {
  let tokens = 0;
  let counted = 0;
  const pause = beginWork();
  for (const text of texts) {
    const beginning = text.slice(0, MAX_COUNTED - counted);
    for (const { slice } of slices(beginning)) {
      tokens += count(slice, PLAIN_TEXT);
      await pause();
    }
    counted += beginning.length;
    if (counted === MAX_COUNTED) break;
  }
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  return counted === length ? tokens : Math.round((tokens * length) / counted);
}

/** Tokens of a text, accurate to a few per cent; other providers' models count differently anyway. */
export async function countTokens(text: string): Promise<number> {
  return text === "" ? 0 : countWith(await loadEncoding(), [text]);
}

const countedText = (message: ModelMessage): string =>
  [
    ...message.parts.map((part) => (part.type === "text" ? part.text : "")),
    ...(message.role === "assistant" && message.calls ? [JSON.stringify(message.calls)] : []),
  ].join("\n");

/** Prompt tokens of a request: its texts and tools, plus 4 tokens for each. Attachments are not counted. */
export async function countPrompt(request: ModelRequest): Promise<number> {
  const count = await loadEncoding();
  const texts = [...request.messages.map(countedText), ...request.tools.map((tool) => JSON.stringify(tool))];
  if (request.instructions !== null) texts.unshift(request.instructions);
  return (await countWith(count, texts)) + 4 * texts.length;
}

/** The longest beginning of a text with at most `limit` tokens; it never ends inside a surrogate pair. */
export async function firstTokens(text: string, limit: number): Promise<string> {
  const { countTokens: count } = await loadEncoding();
  let left = limit;
  const pause = beginWork();
  for (const { at, slice } of slices(text)) {
    const tokens = count(slice, PLAIN_TEXT);
    if (tokens > left)
      return text.slice(0, at) + longestWithin(slice, (beginning) => count(beginning, PLAIN_TEXT) <= left);
    left -= tokens;
    await pause();
  }
  return text;
}

/** A binary search, because gpt-tokenizer's `decode` carries an unfinished character into the next text. */
function longestWithin(text: string, fits: (beginning: string) => boolean): string {
  let [fitting, tooLong] = [0, text.length];
  while (tooLong - fitting > 1) {
    const middle = (fitting + tooLong) >> 1;
    if (fits(text.slice(0, middle))) fitting = middle;
    else tooLong = middle;
  }
  const splitsPair = fitting > 0 && text.codePointAt(fitting - 1)! > 0xffff;
  return text.slice(0, splitsPair ? fitting - 1 : fitting);
}
