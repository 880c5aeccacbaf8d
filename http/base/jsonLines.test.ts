import { expect, test } from "vitest";
import { jsonLines } from "./jsonLines.ts";

/** More than a piece of a line, which has 128 KiB of characters and may be escaped. */
const MAX_CHUNK = 1024 * 1024;

test("a long value is one line, which is written in pieces", async () => {
  const values = [
    { type: "turn", at: new Date(0), input: [{ text: '"é\n'.repeat(2_000_000) }], output: undefined },
    { type: "end" },
  ];
  async function* lines() {
    yield* values;
  }
  const chunks: Buffer[] = [];
  for await (const chunk of jsonLines(lines())) chunks.push(chunk as Buffer);
  expect(Math.max(...chunks.map(({ length }) => length))).toBeLessThan(MAX_CHUNK);
  const text = Buffer.concat(chunks).toString();
  expect(text === values.map((value) => `${JSON.stringify(value)}\n`).join("")).toBe(true);
});
