import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { countRounds } from "#test/countRounds.ts";
import { RESPONSE_HEAD } from "#test/samples.ts";
import { openFrameReader } from "../turns/frameReader.ts";
import { findPlace, followResponse, replayResponse } from "./followResponse.ts";
import { createStream, REGENERATED_MESSAGE, START } from "./responseStream.ts";

test("a stream that repeats long instructions in three events lets other work run in between", async () => {
  const written: (string | Buffer)[] = [];
  const raw = Object.assign(new EventEmitter(), {
    destroyed: false,
    writableEnded: false,
    writableLength: 0,
    writeHead: () => {},
    write: (piece: string | Buffer) => void written.push(piece),
    end: (piece: string | Buffer = "") => void written.push(piece),
  });
  const reply = { raw, request: { headers: {} }, hijack: () => {}, getHeaders: () => ({}) };
  const row = {
    id: newId(),
    status: "completed",
    frames: "frames",
    wrapped_key: "key",
    model: "m",
    said: { text: "Yes.", reasoning: "", citations: [] },
    usage: null,
    finish_reason: "stop",
    attempt: 1,
    started_at: new Date(),
    ended_at: new Date(),
  };
  const http = { vault: { get: async () => Buffer.from(JSON.stringify([{ type: "text", text: "Yes." }])) } };
  const head = { ...RESPONSE_HEAD, instructions: "é".repeat(8_000_000) };

  const replaying = replayResponse(http as never, reply as never, { head, row: row as never, startAfter: -1 });
  expect(await countRounds(replaying)).toBeGreaterThan(3);
  raw.emit("close");
  expect(Math.max(...written.map(({ length }) => length))).toBeLessThan(512 * 1024);
  const events = written
    .map(String)
    .join("")
    .matchAll(/^data: (.*)$/gm);
  const shown = [...events].map(([, json]) => JSON.parse(json!));
  expect(shown.map(({ sequence_number }) => sequence_number)).toEqual(shown.map((_, n) => n));
  const responses = shown.flatMap(({ response }) => response ?? []);
  expect(responses.map(({ status }) => status)).toEqual(["in_progress", "in_progress", "completed"]);
  expect(responses.every(({ instructions }) => instructions === head.instructions)).toBe(true);
});

/** A connection that takes 256 KiB in 20 ms. */
function slowConnection() {
  const written: string[] = [];
  const raw = Object.assign(new EventEmitter(), {
    destroyed: false,
    writableEnded: false,
    writableLength: 0,
    writableNeedDrain: false,
    writeHead: (): void => {},
    write(piece: string | Buffer): void {
      written.push(String(piece));
      raw.writableLength += piece.length;
      if (raw.writableNeedDrain || raw.writableLength < 256 * 1024) return;
      raw.writableNeedDrain = true;
      setTimeout((): void => {
        Object.assign(raw, { writableLength: 0, writableNeedDrain: false });
        raw.emit("drain");
      }, 20);
    },
    end(piece: string | Buffer = ""): void {
      written.push(String(piece));
      raw.writableEnded = true;
    },
    destroy(): void {
      raw.destroyed = true;
      raw.emit("close");
    },
  });
  return { raw, written };
}

test("a resumed stream sends retained frames of 3 MB at the pace of its client", async () => {
  const text = "word ".repeat(2_000);
  const frames = Array.from({ length: 300 }, (_, n) => ({ attempt: 1, n, type: "text", text }));
  const said = { text: text.repeat(300), reasoning: "", citations: [] };
  const usage = { prompt_tokens: 1, completion_tokens: 1, cached_tokens: 0, reasoning_tokens: 0 };
  const end = { status: "completed", said, usage, finish_reason: "stop", model: "m" };
  const retained = [...frames, { attempt: 1, n: 300, type: "end", position: 1, end }];
  const bus = { subscribe: () => () => {}, loadFrames: async () => retained };
  const reader = openFrameReader(bus as never, "o", "t");
  await reader.catchUp();
  const { raw, written } = slowConnection();
  const reply = { raw, request: { headers: {} }, hijack: () => {}, getHeaders: () => ({}) };
  const never = new AbortController().signal;
  const followed = { organization_id: "o", head: RESPONSE_HEAD, reader, place: START, disconnected: never };

  const ended = await followResponse({ closing: never } as never, reply as never, { ...followed, row: undefined });
  expect(raw.destroyed).toBe(false);
  expect(ended?.status).toBe("completed");
  raw.emit("close");
  const numbers = [...written.join("").matchAll(/"sequence_number":(\d+)/g)].map(([, number]) => Number(number));
  expect(numbers).toEqual(numbers.map((_, n) => n));
  expect(numbers.length).toBeGreaterThan(300);
});

test("a client that continues while the bus does not answer gets an error if a later attempt generates the answer again", async () => {
  const away = { catchUp: () => Promise.reject(new Error("away")) };
  const place = await findPlace(away, { attempt: 1 }, 20);
  const text = { type: "text", text: "Again" } as const;
  const next = (attempt: number) => {
    const stream = createStream(RESPONSE_HEAD, place);
    stream.open();
    return stream.next({ ...text, attempt, n: 0, is_new: true });
  };
  expect(next(2)).toMatchObject([{ type: "response.failed", response: { error: { message: REGENERATED_MESSAGE } } }]);
  // what the client has may be of this attempt
  expect(next(1)).toEqual([]);
});
