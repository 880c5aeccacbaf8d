import { EventEmitter } from "node:events";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { countRounds } from "#test/countRounds.ts";
import { keepAlive } from "./keepAlive.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
afterEach(() => void vi.useRealTimers());

/** A reply, and what was written to its connection. */
function openReply() {
  const written: string[] = [];
  const raw = Object.assign(new EventEmitter(), {
    headersSent: false,
    writeHead: () => void (raw.headersSent = true),
    write: (piece: string | Buffer) => void written.push(String(piece)),
    end: (piece = "") => void written.push(String(piece)),
    destroy: () => {},
  });
  const reply = { raw, hijack: () => {}, getHeaders: () => ({}) };
  return { reply: reply as never, written };
}
const http = { logger: { warn: () => {} } } as never;
const RESPONSE = { id: "r", instructions: "é".repeat(8_000_000) };

test("an answer before the first white space is left to the server", async () => {
  const { reply, written } = openReply();
  expect(await keepAlive(reply, http).answer(RESPONSE)).toBe(RESPONSE);
  vi.advanceTimersByTime(60_000);
  expect(written).toEqual([]);
});

test("a long answer after white space is written in pieces, between which other work runs", async () => {
  const { reply, written } = openReply();
  const connection = keepAlive(reply, http);
  vi.advanceTimersByTime(30_000);
  expect(written).toEqual([" ", " "]);
  const answering = connection.answer(RESPONSE);
  vi.advanceTimersByTime(30_000);
  expect(await countRounds(answering)).toBeGreaterThan(3);
  expect(await answering).toBe(reply);
  expect(JSON.parse(written.join(""))).toEqual(RESPONSE);
  expect(Math.max(...written.map(({ length }) => length))).toBeLessThan(512 * 1024);
});
