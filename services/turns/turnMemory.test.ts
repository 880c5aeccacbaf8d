import { expect, test } from "vitest";
import { ModelError } from "./model.ts";
import { createTurnMemory } from "./turnMemory.ts";

const MB = 1_000_000;
const open = () =>
  createTurnMemory({
    conversations: { total: 6 * MB, perTenant: 4 * MB },
    answers: { total: 3 * MB, perTenant: 2 * MB },
  });
const never = new AbortController().signal;

/** Whether it resolves without anything else happening. */
async function isReady(work: Promise<void>): Promise<boolean> {
  let ready = false;
  void work.then(() => (ready = true));
  for (let n = 0; n < 3; n++) await new Promise(setImmediate);
  return ready;
}

test("a turn waits for room for its conversation, and gives back what it did not need", async () => {
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
  await memory.open("a").reserve(100 * MB, never);
  expect(await isReady(memory.open("a").reserve(10_000, never))).toBe(true);
  expect(await isReady(memory.open("a").reserve(100_000, never))).toBe(false);
});

test("a turn that is stopped while it waits waits no longer", async () => {
  const memory = open();
  await memory.open("a").reserve(4 * MB, never);
  const stop = new AbortController();
  const waiting = memory.open("a").reserve(MB, stop.signal);
  stop.abort(new Error("stopped"));
  await expect(waiting).rejects.toThrow("stopped");
});

test("an answer that finds no room is cut, until another turn of the organization ends", async () => {
  const memory = open();
  const [first, second] = [memory.open("a"), memory.open("a")];
  first.add(2 * MB);
  expect(() => second.add(MB)).toThrow(ModelError);
  memory.open("b").add(MB);
  first.close();
  memory.open("a").add(MB);
});
