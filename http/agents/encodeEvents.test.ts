import { expect, test } from "vitest";
import { countRounds } from "#test/countRounds.ts";
import { encodeEvent, encodeEvents, type NumberedEvent } from "./encodeEvents.ts";

const textOf = (frames: string | Buffer[]): string =>
  typeof frames === "string" ? frames : Buffer.concat(frames).toString();
const delta = (sequence_number: number): NumberedEvent => ({
  type: "response.output_text.delta",
  sequence_number,
  delta: `"é" ${sequence_number}`,
});

test("short events are one text", async () => {
  const events = [delta(0), delta(1)];
  expect(await encodeEvents(events)).toBe(events.map(encodeEvent).join(""));
  expect(await encodeEvents([])).toBe("");
});

test("long events are encoded in pieces, between which other work runs", async () => {
  const response = { id: "r", instructions: "é".repeat(8_000_000), output: [{ text: '"'.repeat(200_000) }] };
  const events: NumberedEvent[] = [
    { type: "response.created", sequence_number: 0, response },
    { type: "response.in_progress", sequence_number: 1, response },
    delta(2),
    { type: "response.output_text.done", sequence_number: 3, text: "t".repeat(2_000_000), logprobs: [] },
  ];
  const encoding = encodeEvents(events);
  expect(await countRounds(encoding)).toBeGreaterThan(3);
  const pieces = (await encoding) as Buffer[];
  expect(textOf(pieces) === events.map(encodeEvent).join("")).toBe(true);
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(1024 * 1024);
  // the response of the first two events is encoded once
  const held = [...new Set(pieces)].reduce((sum, { length }) => sum + length, 0);
  expect(held).toBeLessThan(19_000_000);
});

test("thousands of short events share pieces", async () => {
  const events = Array.from({ length: 20_000 }, (_, n) => delta(n));
  const pieces = await encodeEvents(events);
  expect(textOf(pieces) === events.map(encodeEvent).join("")).toBe(true);
  expect(pieces.length).toBeLessThan(50);
});
