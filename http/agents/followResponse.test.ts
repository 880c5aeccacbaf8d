import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { countRounds } from "#test/countRounds.ts";
import { RESPONSE_HEAD } from "#test/samples.ts";
import { replayResponse } from "./followResponse.ts";

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
