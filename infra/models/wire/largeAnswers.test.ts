import { expect, test } from "vitest";
import { computingTime, longestTurn } from "../../../test/computingTime.ts";
import { toAnswerPiece } from "../openai/answer.ts";
import { checkedResponse } from "./checkedResponse.ts";
import { readChunks } from "./readChunks.ts";
import { refusal } from "./errors.ts";

const TEXT = "\n".repeat(7_500_000);

/** A response whose body arrives in packets. */
function respond(body: string): Response {
  const bytes = Buffer.from(body);
  let at = 0;
  const next = async () => {
    const value = bytes.subarray(at, (at += 64 * 1024));
    return value.length === 0 ? { done: true as const, value: undefined } : { done: false as const, value };
  };
  return checkedResponse(
    { status: 200, headers: new Headers(), chunks: { next }, cancel: () => {} },
    "http://provider",
  );
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

test.each([
  ["words", "a ".repeat(8_000_000)],
  ["JSON", JSON.stringify({ error: { message: "a ".repeat(8_000_000) } })],
])("a refusal of 16 MB of %s does not hold the event loop, and is cut", async (_title, body) => {
  let error: Error | undefined;
  const read = async () => void (error = await refusal(respond(body), "sk-key"));
  expect(await longestTurn(read)).toBeLessThan(50);
  expect(error!.message).toMatch(/^The provider answered 200: .{100,}/);
  expect(error!.message.length).toBeLessThanOrEqual(500);
});

test.each([1, 7, 30, 63, 99])(
  "a refusal that repeats the key again and again, %i characters shifted, shows no part of it",
  async (shift) => {
    const key = `sk-${"0123456789abcdef".repeat(6)}`;
    const { message } = await refusal(respond(`${"x".repeat(shift)} ${`${key} `.repeat(200)}`), key);
    expect(message).toContain("[key]");
    for (const part of [key.slice(0, 6), key.slice(-4), key.slice(40, 60)]) expect(message).not.toContain(part);
  },
);

test("lists of hundreds of thousands of meaningless entries are not searched", () => {
  const zeros = Array<number>(240_000).fill(0);
  const delta = { content: "a", tool_calls: zeros, annotations: zeros };
  let piece: ReturnType<typeof toAnswerPiece>;
  expect(computingTime(() => (piece = toAnswerPiece({ choices: [{ delta }, ...zeros], usage: null })))).toBeLessThan(
    50,
  );
  expect(piece).toMatchObject({ text: "a", calls: [], citations: [] });
});
