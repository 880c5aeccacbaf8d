import { expect, test } from "vitest";
import { countRounds } from "#test/countRounds.ts";
import { modelRequest } from "#test/doubles/modelRequest.ts";
import { streamAnswer, splitChunks } from "./streamAnswer.ts";

const words = (count: number): string => Array.from({ length: count }, (_, n) => `word${n}`).join(" ");

test.each([
  ["an empty text", "", []],
  ["one word", "hello", ["hello"]],
  ["words, each with the space after it", "one two\n\nthree ", ["one ", "two\n\n", "three "]],
  ["spaces before the first word", "  one two", ["  one ", "two"]],
  ["spaces alone", "   ", ["   "]],
])("an offline model splits %s into the expected chunks", (_title, text, chunks) =>
  expect([...splitChunks(text)]).toEqual(chunks),
);

test.each([
  ["20,000 words", words(20_000)],
  ["100,000 letters with spaces", "a ".repeat(100_000)],
  ["300 emoji", "🙂".repeat(300)],
  ["spaces around a word", `${" ".repeat(5_000)}word${" ".repeat(5_000)}`],
])("an offline model streams %s in at most 256 chunks that join to the text", (_title, text) => {
  const chunks = [...splitChunks(text)];
  expect(chunks.join("")).toBe(text);
  expect(chunks.length).toBeLessThanOrEqual(256);
  expect(chunks.slice(0, -1).every((chunk) => /\s$/.test(chunk))).toBe(true);
});

/** Reads a streamed text to its end and its usage, and computes for each chunk as real readers do. */
async function hear(text: string): Promise<void> {
  let heard = 0;
  for await (const event of streamAnswer(modelRequest(text, { streamed: true }), { text })) {
    for (const end = performance.now() + 0.1; performance.now() < end; );
    if (event.type === "text") heard += event.text.length;
    if (heard === text.length) return;
  }
}

test("the event loop goes round while many long texts are streamed at once", async () => {
  const text = words(10_000);
  // 250 ms of work in rounds of 5 ms; without a pause between the chunks it would be a few rounds
  expect(await countRounds(Promise.all(Array.from({ length: 10 }, () => hear(text))))).toBeGreaterThanOrEqual(20);
});
