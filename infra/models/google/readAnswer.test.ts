import { expect, test } from "vitest";
import { longestTurn } from "#test/computingTime.ts";
import { readAnswer } from "./readAnswer.ts";

const chunk = (text: string, more: object = {}): string =>
  `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ text }] }, ...more }] })}\n\n`;

/** Answers requests one after the other; an answer that ends with `null` breaks off there. */
async function read(...answers: (string | null)[][]) {
  const tokens: (string | undefined)[] = [];
  async function* bodyOf(parts: (string | null)[]) {
    for (const part of parts) {
      if (part === null) throw new Error("the connection broke off");
      yield Buffer.from(part);
    }
  }
  const send = async (token: string | undefined) => {
    tokens.push(token);
    return { body: bodyOf(answers[tokens.length - 1] ?? []) } as unknown as Response;
  };
  const chunks = (await Array.fromAsync(readAnswer(send, "k"))).flat();
  const texts = chunks.map(({ chunk: { candidates }, request }) => [candidates[0]?.content?.parts[0]?.text, request]);
  return { texts, tokens };
}

const END = { finishReason: "STOP" };

test("an answer whose connection breaks off after a token continues in another request", async () => {
  const broken = [chunk("One ", { continuationToken: "t1" }), null];
  expect(await read(broken, [chunk("two.", END)])).toEqual({
    texts: [
      ["One ", 0],
      ["two.", 1],
    ],
    tokens: [undefined, "t1"],
  });
});

test("an answer that breaks off without a continuation token of its own fails", async () => {
  await expect(read([chunk("One "), null])).rejects.toThrow("broke off");
  const broken = [chunk("One ", { continuationToken: "t1" })];
  await expect(read(broken, [chunk("two"), null])).rejects.toThrow("broke off");
});

test("a complete answer is not continued, even with a continuation token", async () => {
  const { tokens } = await read([chunk("One", { continuationToken: "t1" }), chunk("", END)]);
  expect(tokens).toEqual([undefined]);
});

test.each(["\n", "\r", ":\n\n", "\r\r\n\n:\r\n\r\n"])("chunks full of %j do not hold the event loop", async (text) => {
  const filler = text.repeat(Math.ceil((64 * 1024) / text.length));
  const readAll = () => read([filler, filler, chunk("One", END)]);
  expect((await readAll()).texts).toHaveLength(1);
  expect(await longestTurn(readAll)).toBeLessThan(50);
});
