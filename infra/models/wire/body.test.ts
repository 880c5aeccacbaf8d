import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import { longestTurn } from "#test/computingTime.ts";
import { ModelError } from "#services/turns/model.ts";
import { InvalidBody, checkedChunks } from "./body.ts";

const response = (pieces: Uint8Array[]) => {
  let cancelled = 0;
  const chunks = pieces[Symbol.iterator]();
  return {
    status: 200,
    headers: new Headers(),
    chunks: { next: async () => chunks.next() },
    cancel: () => void (cancelled += 1),
    cancelled: () => cancelled,
  };
};
const read = async (pieces: Uint8Array[], reading: "events" | "whole" = "events") =>
  Buffer.concat(await Array.fromAsync(checkedChunks(response(pieces), reading)));

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

test("an endless event and an endless unstreamed answer are refused", async () => {
  const megabyte = Buffer.alloc(1024 * 1024, "a");
  const lines = Array.from({ length: 60 }, (_, n) => (n % 10 === 9 ? Buffer.from("\n\n") : megabyte));
  expect((await read(lines)).length).toBeGreaterThan(50 * 1024 * 1024);
  await expect(read(lines, "whole")).rejects.toThrow("too large");
  await expect(read(Array.from({ length: 60 }, () => megabyte))).rejects.toThrow("too large");
});

test("the bytes of a long piece count until it has arrived whole, and those of short ones never", async () => {
  const held: number[] = [];
  const share = { add: () => {}, holdPiece: (bytes: number) => void held.push(bytes) };
  const part = Buffer.alloc(40 * 1024, "a");
  const end = Buffer.from("\n\n");
  const readAll = (pieces: Uint8Array[], reading: "events" | "whole") =>
    Array.fromAsync(checkedChunks(response(pieces), reading, share));
  await readAll([part, end, part, end], "events");
  expect(held).toEqual([]);
  await readAll([part, part, part, end, part, end], "events");
  expect(held.splice(0)).toEqual([2 * part.length, 3 * part.length, 0]);
  await readAll([part, part], "whole");
  expect(held).toEqual([2 * part.length, 0]);
});

test("an answer is cut in the middle of a piece for which there is no room", async () => {
  const holdPiece = () => {
    throw new ModelError("cut", "full");
  };
  const chunks = checkedChunks(response([Buffer.alloc(100 * 1024, "a")]), "events", { add: () => {}, holdPiece });
  await expect(Array.fromAsync(chunks)).rejects.toThrow("full");
});

test("a short rest is drained when the reader stops, and an endless one is cancelled", async () => {
  const stop = async (pieces: Uint8Array[]) => {
    const source = response(pieces);
    const chunks = checkedChunks(source, "events");
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

test.each([":", "id: ", "dat: ", "data "])(
  "lines that begin with %j do not hide how deep an event nests",
  async (name) => {
    const event = `data: ${"[".repeat(60)}\r\n${name}${"]".repeat(60)}\r\ndata: ${"[".repeat(60)}\r\n\r\n`;
    await expect(read([Buffer.from(event)])).rejects.toThrow("nests deeper than 64 levels");
    await expect(read([...Buffer.from(event)].map((byte) => Buffer.of(byte)))).rejects.toThrow("nests deeper");
    const lines = event.replaceAll(name + "]", "data:]").repeat(2);
    expect((await read([...Buffer.from(lines)].map((byte) => Buffer.of(byte)))).length).toBe(lines.length);
  },
);

describe("JSON of more values than the event loop has time for", () => {
  const TOO_MANY = "has more than 250000 values";
  const values = "1,".repeat(200_000);

  test.each(["\n", "\r", "\r\n"])("is refused in one event of a stream, with lines that end with %j", async (end) => {
    const event = `data: [${values}1]${end}${end}`;
    expect((await read([Buffer.from(event.repeat(3))])).length).toBe(event.length * 3);
    await expect(read([Buffer.from(`data: [${values}${end}data: ${values}`)])).rejects.toThrow(TOO_MANY);
    // a quote in an earlier line does not hide values
    await expect(read([Buffer.from(`:"${end}data: [${values}${values}`)])).rejects.toThrow(TOO_MANY);
    await expect(read([Buffer.from(`x${end}`.repeat(250_002))])).rejects.toThrow(TOO_MANY);
  });

  test.each([
    ["lines end in different ways", "events", `data: [${values}\n\r\n${values}`],
    ["an unstreamed answer has blank lines", "whole", `[${values}\n\n${values}`],
  ] as const)("is refused when %s", async (_, reading, text) => {
    await expect(read([Buffer.from(text)], reading)).rejects.toThrow(TOO_MANY);
  });

  test("is counted the same wherever its chunks are cut", async () => {
    const text = `{"a":"\\\\\\"${"[".repeat(80)}","b":[${"[".repeat(63)}`;
    for (const size of [1, 2, 3, 7]) {
      const cut = (all: string) =>
        Buffer.from(all)
          .toString("latin1")
          .match(new RegExp(`.{1,${size}}`, "gs"))!;
      const pieces = (all: string) => cut(all).map((one) => Buffer.from(one, "latin1"));
      await expect(read(pieces(text), "whole")).rejects.toThrow("nests deeper than 64 levels");
      expect((await read(pieces(text.slice(0, -1)), "whole")).length).toBe(text.length - 1);
    }
  });

  test("is found without holding the event loop", async () => {
    const packets = ["\n", "\r", "x\n", "x\n\n", '"\n'].map((one) =>
      Buffer.from(one.repeat(64 * 1024).slice(0, 64 * 1024)),
    );
    await read([packets[0]!]); // loads what reading needs
    for (const packet of packets) expect(await longestTurn(() => read([packet]))).toBeLessThan(50);
  });
});

describe("bodies without an event", () => {
  afterEach(() => void vi.useRealTimers());

  test("twenty that are read at the same time take 5 ms of each round of the event loop together", async () => {
    // lets the previous test's round of the event loop end
    await new Promise(setImmediate);
    vi.useFakeTimers({ toFake: ["performance"] });
    let chunks = 0;
    let most = 0;
    let isOver = false;
    const countRound = () => {
      most = Math.max(most, chunks);
      chunks = 0;
      if (!isOver) setImmediate(countRound);
    };
    setImmediate(countRound);
    const comment = Buffer.from(": nothing\n");
    const readOne = async () => {
      for await (const _ of checkedChunks(response(Array<Buffer>(50).fill(comment)), "events")) {
        chunks += 1;
        vi.advanceTimersByTime(1);
      }
    };
    await Promise.all(Array.from({ length: 20 }, readOne));
    isOver = true;
    expect(Math.max(most, chunks)).toBeLessThanOrEqual(5 + 20);
  });
});
