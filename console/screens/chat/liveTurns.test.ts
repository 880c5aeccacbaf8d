import { QueryClient } from "@tanstack/react-query";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { Thread } from "../../api/chat.ts";

const WORDS = ["one ", "two ", "three ", "four ", "five ", "six ", "seven ", "eight "];

/** A body that sends its frames one by one, and then ends or breaks off. */
function streamOf(frames: object[], breaks: boolean): ReadableStream {
  const rest = frames.map((frame) => new TextEncoder().encode(`data: ${JSON.stringify(frame)}\n\n`));
  const pull = async (controller: ReadableStreamDefaultController) => {
    await new Promise((resolve) => setTimeout(resolve, 2));
    const next = rest.shift();
    if (next) controller.enqueue(next);
    else if (breaks) controller.error(new TypeError("network error"));
    else controller.close();
  };
  return new ReadableStream({ pull }, { highWaterMark: 0 });
}
const framesOf = (turn: string, words: string[]) => [
  { type: "response.created", response: { id: `resp_${turn}`, output: [], error: null } },
  { type: "response.output_item.added", output_index: 0, item: { type: "message", id: "m", content: [] } },
  ...words.map((delta) => ({ type: "response.output_text.delta", output_index: 0, delta })),
];

/** A service with one thread, whose streams send a given number of words before they break, or one more each time; undefined means unavailable. */
const service = { turn: "", status: "running", words: undefined as number | undefined, grows: false, follows: 0 };
const threadNow = () =>
  ({ id: `of-${service.turn}`, agent_id: "a", status: service.status, newest_turn_id: service.turn }) as Thread;

async function answer(url: URL): Promise<Response> {
  if (service.words === undefined) throw new TypeError("Failed to fetch");
  const { turn } = service;
  if (url.pathname.includes("/threads/")) return Response.json(threadNow());
  if (url.pathname.endsWith("/trace"))
    return Response.json({ prompt: { messages: [] }, answer: { text: WORDS.join("") } });
  const words = WORDS.slice(0, service.words);
  service.follows++;
  if (service.grows) service.words++;
  const isWhole = words.length === WORDS.length;
  if (isWhole) service.status = "completed";
  return new Response(streamOf(framesOf(turn, words), !isWhole), { headers: { "x-thread-id": `of-${turn}` } });
}

let live: typeof import("./liveTurns.ts");
const queries = new QueryClient();
beforeAll(async () => {
  vi.stubGlobal("document", { baseURI: "http://service.test/console/" });
  vi.stubGlobal("window", { setTimeout: (then: () => void) => setTimeout(then, 1) });
  vi.stubGlobal("sessionStorage", { getItem: () => null, setItem: () => {}, removeItem: () => {} });
  vi.stubGlobal("fetch", answer);
  live = await import("./liveTurns.ts");
});
afterAll(() => {
  queries.clear();
  vi.unstubAllGlobals();
});

let turns = 0;
beforeEach(
  () => void Object.assign(service, { turn: `turn${++turns}`, status: "running", words: 1, grows: false, follows: 0 }),
);
const start = () => live.startQuestion(queries, { text: "Why?", files: [], agent_id: "a", key: service.turn });
const isOver = async (thread: string) => {
  await expect.poll(() => live.findLiveTurn(thread)).toBeUndefined();
};

test("a reader follows an answer through any number of disconnects as long as new text arrives", async () => {
  service.grows = true;
  const thread = await start();
  await isOver(thread);
  expect(service.follows).toBe(WORDS.length);
});

/** Sends a question, and makes the service unavailable for longer than all attempts. */
async function loseAnswer(): Promise<string> {
  const thread = await start();
  await expect.poll(() => live.findLiveTurn(thread)?.answer.text).toBe(WORDS[0]);
  service.words = undefined;
  await expect.poll(() => live.findLiveTurn(thread)?.failure).toBeDefined();
  return thread;
}

test("after an outage the reader follows an answer that is still being written", async () => {
  const thread = await loseAnswer();
  service.words = WORDS.length;
  await live.syncLiveTurn(queries, threadNow());
  await isOver(thread);
});

test("after an outage the stored answer replaces the failure message, but an older answer does not", async () => {
  queries.setQueryData(["thread", "one", `of-${service.turn}`], { ...threadNow(), newest_turn_id: "earlier" });
  const thread = await loseAnswer();
  await live.syncLiveTurn(queries, { ...threadNow(), status: "completed", newest_turn_id: "earlier" });
  expect(live.findLiveTurn(thread)?.failure).toBeDefined();
  service.words = WORDS.length;
  await live.syncLiveTurn(queries, { ...threadNow(), status: "completed" });
  expect(live.findLiveTurn(thread)).toBeUndefined();
});
