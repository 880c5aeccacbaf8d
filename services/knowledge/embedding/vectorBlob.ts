import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";

/* A blob of vectors holds for each text its mark, then its numbers (32-bit floats, little-endian). */

const MARK_BYTES = 16;
const NUMBER_BYTES = 4;
/** Numbers, or texts, that are processed before other work may run: a few milliseconds. */
const [MAX_NUMBERS, MAX_TEXTS] = [200_000, 200];

/** Characters of a passage that are embedded: models accept about 8,000 tokens. */
const MAX_CHARACTERS = 8_000;

interface EmbeddedPassage {
  section: string | null;
  lead: string;
  text: string;
}

/** The text that is embedded for a passage. It leaves out the document's name, so that renaming costs nothing. */
const embeddedText = (passage: EmbeddedPassage): string =>
  [passage.section, passage.lead, passage.text]
    .filter((part) => part !== null && part !== "")
    .join("\n")
    .slice(0, MAX_CHARACTERS)
    .toWellFormed();

const textMark = (text: string): string =>
  createHash("sha256")
    .update(text)
    .digest("hex")
    .slice(0, 2 * MARK_BYTES);

/** Returns each passage's embedded text and its mark; lets other work run in between. */
export async function markPassages(passages: EmbeddedPassage[]): Promise<{ mark: string; text: string }[]> {
  const marked: { mark: string; text: string }[] = [];
  for (const passage of passages) {
    const text = embeddedText(passage);
    if (marked.push({ mark: textMark(text), text }) % MAX_TEXTS === 0) await setImmediate();
  }
  return marked;
}

/** Lets other work run in between. */
export async function encodeVectors(vectors: Map<string, Float32Array>): Promise<Buffer> {
  const parts: Buffer[] = [];
  let sinceTurn = 0;
  for (const [mark, vector] of vectors) {
    if ((sinceTurn += vector.length) > MAX_NUMBERS) {
      await setImmediate();
      sinceTurn = vector.length;
    }
    const numbers = Buffer.alloc(vector.length * NUMBER_BYTES);
    for (let n = 0; n < vector.length; n++) numbers.writeFloatLE(vector[n]!, n * NUMBER_BYTES);
    parts.push(Buffer.from(mark, "hex"), numbers);
  }
  return Buffer.concat(parts);
}

/** Adds the vectors of a blob to `vectors`; lets other work run in between. */
export async function decodeVectors(
  bytes: Buffer,
  dimensions: number,
  vectors: Map<string, Float32Array>,
): Promise<void> {
  const size = MARK_BYTES + dimensions * NUMBER_BYTES;
  const atOnce = Math.max(1, Math.floor(MAX_NUMBERS / dimensions));
  for (let n = 0; (n + 1) * size <= bytes.length; n++) {
    if (n % atOnce === atOnce - 1) await setImmediate();
    const [start, numbers] = [n * size, n * size + MARK_BYTES];
    const vector = new Float32Array(dimensions);
    for (let at = 0; at < dimensions; at++) vector[at] = bytes.readFloatLE(numbers + at * NUMBER_BYTES);
    vectors.set(bytes.toString("hex", start, numbers), vector);
  }
}
