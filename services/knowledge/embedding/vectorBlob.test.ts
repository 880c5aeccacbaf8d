import { expect, test } from "vitest";
import { splitBatches } from "./embedDocument.ts";
import { decodeVectors, encodeVectors, markPassages } from "./vectorBlob.ts";

const passage = (text: string, section: string | null = null) => ({ section, lead: "", text });

test("vectors come out of a blob as they went in, under the marks of their texts", async () => {
  const marked = await markPassages([passage("one"), passage("two", "Part"), passage("one")]);
  expect(marked.map(({ text }) => text)).toEqual(["one", "Part\ntwo", "one"]);
  expect(marked[0]!.mark).toBe(marked[2]!.mark);
  const vectors = new Map([
    [marked[0]!.mark, Float32Array.of(0.25, -1, 0)],
    [marked[1]!.mark, Float32Array.of(1, 0, 0.5)],
  ]);
  const decoded = new Map<string, Float32Array>();
  await decodeVectors(await encodeVectors(vectors), 3, decoded);
  expect(decoded).toEqual(vectors);
});

test("a text beyond what models read is cut, and half a character is none", async () => {
  const [long] = await markPassages([passage(`${"x".repeat(7_999)}😀`)]);
  expect(long!.text).toHaveLength(8_000);
  expect(long!.text.isWellFormed()).toBe(true);
});

test("a batch has few texts, few numbers and few characters", () => {
  const texts = (count: number, length: number) =>
    Array.from({ length: count }, (_, n): [string, string] => [`${n}`, "x".repeat(length)]);
  const sizes = (count: number, length: number, dimensions: number) =>
    [...splitBatches(texts(count, length), dimensions)].map((batch) => batch.length);
  expect(sizes(200, 10, 256)).toEqual([96, 96, 8]);
  expect(sizes(40, 10, 4_096)).toEqual([16, 16, 8]);
  expect(sizes(20, 8_000, 8)).toEqual([12, 8]);
  expect(sizes(0, 10, 8)).toEqual([]);
});
