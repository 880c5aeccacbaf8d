import { expect, test } from "vitest";
import { splitChunks } from "./speak.ts";

const words = (count: number): string => Array.from({ length: count }, (_, n) => `word${n}`).join(" ");

test.each([
  ["nothing", "", []],
  ["one word", "hello", ["hello"]],
  ["words, each with the space after it", "one two\n\nthree ", ["one ", "two\n\n", "three "]],
  ["spaces before the first word", "  one two", ["  one ", "two"]],
  ["spaces alone", "   ", ["   "]],
])("an offline model streams %s in these chunks", (_title, text, chunks) =>
  expect([...splitChunks(text)]).toEqual(chunks),
);

test.each([
  ["20,000 words", words(20_000)],
  ["100,000 letters with spaces", "a ".repeat(100_000)],
  ["300 emoji", "🙂".repeat(300)],
  ["spaces around a word", `${" ".repeat(5_000)}word${" ".repeat(5_000)}`],
])("an offline model streams %s in at most 256 chunks that are the text again", (_title, text) => {
  const chunks = [...splitChunks(text)];
  expect(chunks.join("")).toBe(text);
  expect(chunks.length).toBeLessThanOrEqual(256);
  expect(chunks.slice(0, -1).every((chunk) => /\s$/.test(chunk))).toBe(true);
});
