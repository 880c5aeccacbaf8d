import fc from "fast-check";
import { expect, test } from "vitest";
import { wholeEvents } from "./wholeEvents.ts";

async function* piecesOf(text: string, sizes: number[]): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0, n = 0; at < bytes.length; n += 1) {
    const size = 1 + sizes[n % sizes.length]!;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}
const read = async (text: string, sizes: number[]): Promise<string[]> =>
  (await Array.fromAsync(wholeEvents(piecesOf(text, sizes)))).map((piece) => Buffer.from(piece).toString());

const end = fc.constantFrom("\n\n", "\r\n\r\n", "\r\r");
const event = fc
  .tuple(fc.string({ unit: fc.constantFrom("a", "é", ":", "\n", "\r") }), end)
  .map(([text, last]) => text + last);
const sizes = fc.array(fc.nat({ max: 9 }), { minLength: 1 });

test("no byte is lost, and every piece but the last ends where an event does", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(event), fc.string(), sizes, async (events, rest, cuts) => {
      const text = events.join("") + rest;
      const pieces = await read(text, cuts);
      expect(pieces.join("")).toBe(text.toWellFormed());
      for (const piece of pieces.slice(0, -1)) expect(piece).toMatch(/(\n\n|\r\n\r\n|\r\r)$/);
    }),
  );
});

test("an event arrives as soon as it is complete", async () => {
  expect(await read("data: 1\r\n\r\ndata: 2\r\n\r\n", [0])).toEqual(["data: 1\r\n\r\n", "data: 2\r\n\r\n"]);
});
