import { expect, test } from "vitest";
import type { StepCall } from "#services/workflows/tick.ts";
import { longestTurn } from "../../../test/computingTime.ts";
import { createHostResponder } from "./hostResponder.ts";

const BODY = "\u0001".repeat(10 * 1024 * 1024);
const calls: unknown[] = [];
const host = {
  fetch: async () => ({ status: 200, headers: [], body: BODY }),
  call: async (...call: unknown[]) => void calls.push(call),
};
const open = () =>
  createHostResponder(
    { host, context: { idempotency_key: "k" } } as unknown as Pick<StepCall, "host" | "context">,
    new AbortController().signal,
  );

test("an answer of 10 MiB that is six times as long as JSON does not hold the event loop", async () => {
  const { respond } = open();
  const request = JSON.stringify({ url: "http://a.example", method: "GET", headers: [], body: null });
  let pieces: string[] = [];
  const read = async () => void (pieces = await Array.fromAsync(respond("fetch", request)));
  expect(await longestTurn(read)).toBeLessThan(50);
  // each piece is a message to another process, which copies it in one go
  for (const { length } of pieces) expect(length).toBeLessThan(1024 * 1024);
  expect(JSON.parse(pieces.join(""))).toEqual({ ok: true, value: { status: 200, headers: [], body: BODY } });
});

test("a call of more than 50,000 values is refused, with a sentence for the script, and reaches nothing", async () => {
  const { respond } = open();
  const answer = async (text: string): Promise<unknown> =>
    JSON.parse((await Array.fromAsync(respond("agent", text))).join(""));
  const refused = await answer(`{"vars":[${"0,".repeat(60_000)}0]}`);
  expect(refused).toEqual({ ok: false, error: { message: "agent: the JSON of the call has more than 50000 values." } });
  expect(calls).toEqual([]);
  expect(await answer(`{"vars":[${"0,".repeat(40_000)}0]}`)).toEqual({ ok: true, value: null });
  expect(calls).toHaveLength(1);
});
