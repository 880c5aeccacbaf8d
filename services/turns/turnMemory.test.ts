import { expect, test } from "vitest";
import { echoTool, lastEvent, stageTurn } from "#test/doubles/turnStage.ts";
import { ModelError } from "./model.ts";
import { createTurnMemory } from "./turnMemory.ts";

const MB = 1_000_000;
const open = () =>
  createTurnMemory({
    conversations: { total: 6 * MB, perTenant: 4 * MB },
    answers: { total: 3 * MB, perTenant: 2 * MB },
    pieces: { total: 3 * MB, perTenant: 2 * MB },
  });
const never = new AbortController().signal;

/** Whether it resolves without further events. */
async function isReady(work: Promise<void>): Promise<boolean> {
  let ready = false;
  void work.then(() => (ready = true));
  for (let n = 0; n < 3; n++) await new Promise(setImmediate);
  return ready;
}

test("a turn waits for room for its conversation, and returns the rest", async () => {
  const memory = open();
  const [first, second, other] = [memory.open("a"), memory.open("a"), memory.open("b")];
  await first.reserve(3 * MB, never);
  const waiting = second.reserve(3 * MB, never);
  expect(await isReady(waiting)).toBe(false);
  expect(await isReady(other.reserve(2 * MB, never))).toBe(true);
  first.keep(MB);
  expect(await isReady(waiting)).toBe(true);
});

test("a conversation larger than the share takes all of it, and a small one never waits", async () => {
  const memory = open();
  const [large, small] = [memory.open("a"), memory.open("a")];
  await large.reserve(100 * MB, never);
  expect([large.hasRoom(100 * MB), small.hasRoom(10_000), small.hasRoom(100_000)]).toEqual([true, true, false]);
  expect(await isReady(small.reserve(100_000, never))).toBe(false);
});

test("a turn that is stopped while it waits waits no longer, and leaves its room to the next", async () => {
  const memory = open();
  const first = memory.open("a");
  await first.reserve(4 * MB, never);
  const stop = new AbortController();
  const stopped = memory.open("a").reserve(MB, stop.signal);
  const second = memory.open("a");
  const waiting = second.reserve(4 * MB, never);
  stop.abort(new Error("stopped"));
  await expect(stopped).rejects.toThrow("stopped");
  second.close();
  first.close();
  await waiting;
  expect(await isReady(memory.open("a").reserve(4 * MB, never))).toBe(true);
});

test("an answer that finds no room is cut, until another turn of the organization ends", () => {
  const memory = open();
  const [first, second] = [memory.open("a"), memory.open("a")];
  first.add(2 * MB);
  expect(() => second.add(MB)).toThrow(ModelError);
  second.add(60_000);
  memory.open("b").add(MB);
  first.close();
  memory.open("a").add(2 * MB);
});

test("a piece counts until it has arrived whole, or its turn ends", () => {
  const memory = open();
  const [first, second, third] = [memory.open("a"), memory.open("a"), memory.open("a")];
  first.holdPiece(MB);
  first.holdPiece(2 * MB);
  expect(() => second.holdPiece(MB)).toThrow(ModelError);
  first.holdPiece(0);
  second.holdPiece(2 * MB);
  expect(() => third.holdPiece(MB)).toThrow(ModelError);
  second.close();
  third.holdPiece(2 * MB);
});

test("a turn with a long prompt asks its model once there is room, and gives it back at its end", async () => {
  const memory = open();
  const [one, two] = [memory.open("b"), memory.open("c")];
  await one.reserve(4 * MB, never);
  await two.reserve(2 * MB, never);
  const messages = [{ role: "user" as const, text: "w".repeat(100_000), attachments: [] }];
  const turn = stageTurn({ rounds: [{ text: ["Hello"] }], prompt: { messages }, memory });
  const running = turn.worker("w").start();
  expect(await isReady(running)).toBe(false);
  expect(turn.requests).toEqual([]);
  two.close();
  await running;
  expect(turn.types()).toEqual(["TurnStarted", "TurnCompleted"]);
  expect(await isReady(memory.open("c").reserve(2 * MB, never))).toBe(true);
});

test("a turn that is stopped while it waits for room ends at once", async () => {
  const memory = open();
  await memory.open("b").reserve(4 * MB, never);
  await memory.open("c").reserve(2 * MB, never);
  const messages = [{ role: "user" as const, text: "w".repeat(100_000), attachments: [] }];
  const turn = stageTurn({ rounds: [{ text: ["Hello"] }], prompt: { messages }, memory, streamed: true });
  const running = turn.worker("w").start();
  expect(await isReady(running)).toBe(false);
  turn.stop();
  await running;
  expect(turn.types()).toEqual(["TurnStarted", "TurnStopped"]);
});

test("a tool's result that finds no room is replaced by the reason", async () => {
  const turn = stageTurn({
    rounds: [{ calls: ["long"] }, { text: ["Hm."] }],
    tools: [echoTool("long", undefined, 3 * MB)],
    memory: open(),
  });
  await turn.worker("w").start();
  const [result] = turn.requests[1]!.messages.at(-1)!.parts;
  expect(result).toEqual({
    type: "text",
    text: '{"error":"The running turns of this organization hold too much text at once."}',
  });
  expect(lastEvent(turn).personal.said.text).toBe("Hm.");
});

test("running turns are counted, each once", () => {
  const memory = open();
  const [first] = [memory.open("a"), memory.open("b")];
  first.close();
  first.close();
  expect(memory.countTurns()).toBe(1);
});
