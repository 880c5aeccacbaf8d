import { parentPort } from "node:worker_threads";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { createPause } from "#events/slices.ts";
import type { TokenAnswer, TokenQuestion } from "./askTokenThread.ts";

/* The thread that counts tokens. Concurrent questions share its time in slices. */

/** UTF-16 units encoded in one piece: 100,000 equal letters take the encoder 2.5 s, 64,000 in slices of 1,000 take 8 ms. */
const SLICE_SIZE = 1_000;
/** Special tokens such as <|endoftext|> count as plain text. */
const PLAIN_TEXT = { disallowedSpecial: new Set<string>() };
const count = (text: string): number => countTokens(text, PLAIN_TEXT);

/** Slices of a text, which never split a surrogate pair. */
function* slices(text: string): Generator<{ at: number; slice: string }> {
  for (let at = 0; at < text.length; ) {
    const splitsPair = text.codePointAt(at + SLICE_SIZE - 1)! > 0xffff;
    const slice = text.slice(at, at + SLICE_SIZE + (splitsPair ? 1 : 0));
    yield { at, slice };
    at += slice.length;
  }
}

/** Length of the longest prefix that fits. Uses a binary search, because `decode` carries an unfinished character into the next text. */
function longestWithin(text: string, limit: number): number {
  let [fitting, tooLong] = [0, text.length];
  while (tooLong - fitting > 1) {
    const middle = (fitting + tooLong) >> 1;
    if (count(text.slice(0, middle)) <= limit) fitting = middle;
    else tooLong = middle;
  }
  const splitsPair = fitting > 0 && text.codePointAt(fitting - 1)! > 0xffff;
  return splitsPair ? fitting - 1 : fitting;
}

async function answer({ id, texts, limit }: TokenQuestion): Promise<TokenAnswer> {
  const pause = createPause();
  let [tokens, units] = [0, 0];
  for (const text of texts)
    for (const { slice } of slices(text)) {
      const ofSlice = count(slice);
      if (tokens + ofSlice > limit) return { id, tokens, units: units + longestWithin(slice, limit - tokens) };
      tokens += ofSlice;
      units += slice.length;
      await pause();
    }
  return { id, tokens, units };
}

parentPort!.on("message", (question: TokenQuestion) => {
  void answer(question).then((found) => parentPort!.postMessage(found));
});
