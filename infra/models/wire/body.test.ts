import fc from "fast-check";
import { expect, test } from "vitest";
import { InvalidBody, checkedChunks } from "./body.ts";

const response = (pieces: Uint8Array[], type = "text/event-stream") => {
  let cancelled = 0;
  const chunks = pieces[Symbol.iterator]();
  return {
    status: 200,
    headers: new Headers({ "content-type": type }),
    chunks: { next: async () => chunks.next() },
    cancel: () => void (cancelled += 1),
    cancelled: () => cancelled,
  };
};
const read = async (pieces: Uint8Array[], type?: string) =>
  Buffer.concat(await Array.fromAsync(checkedChunks(response(pieces, type))));

test("text passes unchanged, wherever its chunks are cut", async () => {
  const cuts = fc.tuple(fc.string({ unit: "binary" }), fc.array(fc.nat({ max: 8 }), { minLength: 1 }));
  await fc.assert(
    fc.asyncProperty(cuts, async ([text, sizes]) => {
      const bytes = Buffer.from(text);
      const pieces: Buffer[] = [];
      for (let at = 0, n = 0; at < bytes.length; n += 1) {
        const size = 1 + sizes[n % sizes.length]!;
        pieces.push(bytes.subarray(at, at + size));
        at += size;
      }
      expect(await read(pieces)).toEqual(bytes);
    }),
  );
});

test.each([[[0xff]], [[0xc3, 0x28]], [[0xed, 0xa0, 0x80]], [[0x80]], [[0xf8, 0x88, 0x80, 0x80]], [[0xe2, 0x82, 0x41]]])(
  "the bytes %j are refused",
  async (bytes) => {
    await expect(read([Buffer.from("a"), Buffer.from(bytes), Buffer.from("b")])).rejects.toThrow(InvalidBody);
    for (const byte of [bytes])
      await expect(read([...byte, 0x62].map((one) => Buffer.of(one)))).rejects.toThrow(InvalidBody);
  },
);

test("an answer that ends inside a character is refused", async () => {
  await expect(read([Buffer.from("größer").subarray(0, 3)])).rejects.toThrow("invalid UTF-8");
});

test("an endless line and an endless unstreamed answer are refused", async () => {
  const megabyte = Buffer.alloc(1024 * 1024, "a");
  const lines = Array.from({ length: 60 }, (_, n) => (n % 10 === 9 ? Buffer.from("\n") : megabyte));
  expect((await read(lines)).length).toBeGreaterThan(50 * 1024 * 1024);
  await expect(read(lines, "application/json")).rejects.toThrow("too large");
  await expect(read(Array.from({ length: 60 }, () => megabyte))).rejects.toThrow("too large");
});

test("a short rest is drained when the reader stops, and an endless one is cancelled", async () => {
  const stop = async (pieces: Uint8Array[]) => {
    const source = response(pieces);
    const chunks = checkedChunks(source);
    await chunks.next();
    await chunks.return!();
    await new Promise(setImmediate);
    return { rest: await source.chunks.next(), cancelled: source.cancelled() };
  };
  expect(await stop([Buffer.from("[DONE]"), Buffer.from("\n")])).toEqual({
    rest: { done: true, value: undefined },
    cancelled: 0,
  });
  expect((await stop(Array.from({ length: 50 }, () => Buffer.alloc(1024)))).cancelled).toBe(1);
});
