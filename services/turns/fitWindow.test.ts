import { expect, test } from "vitest";
import { deriveId } from "#events/ids.ts";
import { longestTurn } from "#test/computingTime.ts";
import { fitWindow } from "./fitWindow.ts";
import type { ThreadMessage } from "./threadMessage.ts";

const say = (turn_id: string, role: "user" | "assistant", text: string): ThreadMessage => ({
  role,
  text,
  attachments: [],
  turn_id,
});
/** Turns with a question and an answer of ten words each. */
const threadOf = (turns: number): ThreadMessage[] =>
  Array.from({ length: turns }, (_, n) => [
    say(`t${n}`, "user", "word ".repeat(10)),
    say(`t${n}`, "assistant", "word ".repeat(10)),
  ]).flat();
/** Every word is a token. */
const count = async (text: string): Promise<number> => text.split(" ").length - 1;
const turnsOf = (messages: ThreadMessage[]): string[] => [...new Set(messages.map(({ turn_id }) => turn_id))];

test("a thread that is longer than the window loses its oldest whole turns", async () => {
  const history = threadOf(20);
  // 200 tokens: 20 are a margin, 40 are for the answer, 14 for the request; a turn takes 28
  const window = { tokens: 200, maxOutput: 40, request: ["word ".repeat(10)] };
  const fitting = await fitWindow(history, window, count);
  expect(turnsOf(fitting)).toEqual(["t16", "t17", "t18", "t19"]);
  expect(fitting).toEqual(history.slice(-8));
});

test("a thread that grows beyond the window begins with the same turn for several turns, so that providers read it from their caches", async () => {
  const words = "word ".repeat(10);
  // given ids: by bad luck, random ones have half as many anchors
  const ids = Array.from({ length: 200 }, (_, n) => deriveId("turn", String(n)));
  const thread = ids.flatMap((id) => [say(id, "user", words), say(id, "assistant", words)]);
  // 640 tokens for the history: 22 turns of 28
  const window = { tokens: 800, maxOutput: 70, request: ["word ".repeat(10)] };
  const firsts: string[] = [];
  for (let turns = 40; turns <= 200; turns++) {
    const fitting = turnsOf(await fitWindow(thread.slice(0, 2 * turns), window, count));
    expect(fitting.length).toBeGreaterThanOrEqual(10);
    firsts.push(fitting[0]!);
  }
  // 160 turns, of which one in eight is an anchor; without anchors each has another first turn
  expect(new Set(firsts).size).toBeLessThan(80);
});

test("a thread that fits stays whole, and a short one is not counted", async () => {
  const history = threadOf(20);
  expect(await fitWindow(history, { tokens: 1_000, maxOutput: 40, request: [] }, count)).toEqual(history);
  const never = (): Promise<number> => Promise.reject(new Error("counted"));
  expect(await fitWindow(history, { tokens: 128_000, maxOutput: null, request: [] }, never)).toBe(history);
});

test("a request that fills the window is sent without history", async () => {
  const window = { tokens: 200, maxOutput: 10, request: ["word ".repeat(200)] };
  expect(await fitWindow(threadOf(3), window, count)).toEqual([]);
});

test("a message is counted once, however often its thread is continued", async () => {
  const history = threadOf(20);
  let calls = 0;
  const counting = (text: string) => (calls++, count(text));
  for (let n = 0; n < 3; n++) await fitWindow(history, { tokens: 200, maxOutput: 40, request: [] }, counting);
  expect(calls).toBeLessThan(history.length);
});

test("counting a thread of 4 MB gives the event loop its turn", async () => {
  const { countTokens } = await import("#infra/models/tokens.ts");
  await countTokens("words");
  const history = Array.from({ length: 1_000 }, (_, n) => say(`t${n}`, "user", "some words ".repeat(400)));
  const fit = () => fitWindow(history, { tokens: 400_000, maxOutput: null, request: [] }, countTokens);
  expect(await longestTurn(fit)).toBeLessThan(50);
});
