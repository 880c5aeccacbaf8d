import fc from "fast-check";
import { expect, test } from "vitest";
import type { Credential } from "#services/turns/model.ts";
import { longestTurn } from "#test/computingTime.ts";
import { openClient } from "./client.ts";
import { wholeEvents } from "./wholeEvents.ts";

async function* piecesOf(text: string, sizes: number[]): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0, n = 0; at < bytes.length; n += 1) {
    const size = 1 + sizes[n % sizes.length]!;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}
async function* chunksOf(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let n = 0; n < 2; n++) yield chunk;
}
const readerOf = (events: AsyncGenerator<Uint8Array>) => ({ read: () => events.next(), releaseLock: () => undefined });

const read = async (text: string, sizes: number[]): Promise<string[]> =>
  (await Array.fromAsync(wholeEvents(piecesOf(text, sizes)))).map((piece) => Buffer.from(piece).toString());

const end = fc.constantFrom("\n\n", "\r\n\r\n", "\r\r");
const event = fc
  .tuple(fc.string({ unit: fc.constantFrom("a", "é", ":", "\n", "\r") }), end)
  .map(([text, last]) => text + last);
const sizes = fc.array(fc.nat({ max: 9 }), { minLength: 1 });

/** What the SDK reads of a text: its events without the line ends around them. */
const eventsIn = (text: string): string[] =>
  text.split(/\r\n\r\n|\n\n|\r\r/).flatMap((one) => one.replace(/^[\r\n]+|[\r\n]+$/g, "") || []);

test("the events are those of the stream, one by one", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(event), sizes, async (events, cuts) => {
      const text = events.join("");
      const pieces = await read(text, cuts);
      expect(pieces.flatMap(eventsIn)).toEqual(eventsIn(text));
      for (const piece of pieces) expect(eventsIn(piece).length).toBeLessThanOrEqual(1);
    }),
  );
});

test("a rest without an end is passed on", async () => {
  expect(await read("data: 1\n\ndata: 2", [3])).toEqual(["data: 1\n\n", "data: 2"]);
});

test.each(["\n", "\r", ":\n\n", "\r\r\n\n:\r\n\r\n"])("chunks full of %j do not hold the event loop", async (text) => {
  const chunk = Buffer.from(text.repeat(Math.ceil((32 * 1024) / text.length)));
  const body = { getReader: () => readerOf(wholeEvents(chunksOf(chunk))) };
  const fetch = (async () => ({
    ok: true,
    status: 200,
    headers: new Headers(),
    body,
  })) as unknown as typeof globalThis.fetch;
  const client = openClient({ api_key: "k", base_url: null } as Credential, fetch);
  const readAll = async () =>
    Array.fromAsync(await client.models.generateContentStream({ model: "m", contents: "go" }));
  await readAll();
  expect(await longestTurn(readAll)).toBeLessThan(50);
});

test("an event arrives as soon as it is complete", async () => {
  expect(await read("data: 1\r\n\r\ndata: 2\r\n\r\n", [0])).toEqual(["data: 1\r\n\r\n", "data: 2\r\n\r\n"]);
});
