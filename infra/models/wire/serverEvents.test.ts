import { expect, test } from "vitest";
import { longestTurn } from "#test/computingTime.ts";
import { readServerEvents } from "./serverEvents.ts";

const read = async (...texts: string[]) => {
  async function* chunks() {
    for (const text of texts) yield Buffer.from(text);
  }
  const batches = await Array.fromAsync(readServerEvents(chunks()));
  return batches.map((events) => events.map(({ data }) => data));
};

test("events that arrive together come in one list", async () => {
  expect(await read("data: 1\n\ndata: 2\n\ndata: 3", "\n\n")).toEqual([["1", "2"], ["3"]]);
});

test.each(["\n", "\r\n", "\r"])("lines may end with %j, at any place of a chunk", async (end) => {
  const text = ["data: one", "data: two", "", "event: x", "data: three", "", ""].join(end);
  const whole = ["one\ntwo", "three"];
  expect((await read(text)).flat()).toEqual(whole);
  expect((await read(...text.split(""))).flat()).toEqual(whole);
});

test("a last event without a blank line counts", async () => {
  expect(await read("data: 1\n\ndata: 2")).toEqual([["1"], ["2"]]);
  expect(await read("data: 1\r")).toEqual([["1"]]);
});

test("a packet of carriage returns does not hold the event loop", async () => {
  expect(await longestTurn(() => read("\r".repeat(64 * 1024)))).toBeLessThan(50);
});
