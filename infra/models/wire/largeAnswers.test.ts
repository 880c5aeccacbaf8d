import { expect, test } from "vitest";
import { longestTurn } from "../../../test/computingTime.ts";
import { checkedResponse } from "./checkedResponse.ts";
import { readChunks } from "./chunks.ts";

const TEXT = "\n".repeat(7_500_000);

/** A response whose body arrives in packets. */
function respond(body: string): Response {
  const bytes = Buffer.from(body);
  let at = 0;
  const next = async () => {
    const value = bytes.subarray(at, (at += 64 * 1024));
    return value.length === 0 ? { done: true as const, value: undefined } : { done: false as const, value };
  };
  return checkedResponse({ status: 200, headers: new Headers(), chunks: { next }, cancel: () => {} }, "http://provider");
}

test("one event of 15 MB of escaped line ends does not hold the event loop", async () => {
  const response = respond(`data: ${JSON.stringify({ text: TEXT })}\n\n`);
  const chunks: unknown[] = [];
  const read = async () => {
    for await (const list of readChunks(response, "key")) chunks.push(...list);
  };
  expect(await longestTurn(read)).toBeLessThan(50);
  expect(chunks).toEqual([{ text: TEXT }]);
});

test("an unstreamed answer of 15 MB of escaped line ends does not hold the event loop", async () => {
  const response = respond(JSON.stringify({ text: TEXT }));
  let answer: unknown;
  expect(await longestTurn(async () => (answer = await response.json()))).toBeLessThan(50);
  expect(answer).toEqual({ text: TEXT });
});
