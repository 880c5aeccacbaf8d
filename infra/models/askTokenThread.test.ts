import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { openTokenThread } from "./askTokenThread.ts";

/** A thread that answers 7 tokens, or ends at its first question. */
class Thread extends EventEmitter {
  readonly ends: boolean;
  isKept = true;
  constructor(ends: boolean) {
    super();
    this.ends = ends;
  }
  ref = () => void (this.isKept = true);
  unref = () => void (this.isKept = false);
  postMessage = ({ id }: { id: number }) =>
    queueMicrotask(() => (this.ends ? this.emit("exit", 1) : this.emit("message", { id, tokens: 7, units: 5 })));
}
const question = { texts: ["words"], limit: Infinity };

test("when the thread is lost, the counts under way fail, and the next count starts another", async () => {
  const threads: Thread[] = [];
  const ask = openTokenThread(() => {
    threads.push(new Thread(threads.length === 0));
    return threads.at(-1)! as never;
  });
  const lost = [ask(question), ask(question)];
  for (const each of lost) await expect(each).rejects.toThrow("The thread that counts tokens ended.");
  expect(await ask(question)).toMatchObject({ tokens: 7 });
  expect(await ask(question)).toMatchObject({ tokens: 7 });
  expect(threads).toHaveLength(2);
});

test("a thread that fails and then ends does not end the one that was started in between", async () => {
  const threads = [new Thread(false), new Thread(false)];
  const started: Thread[] = [];
  const ask = openTokenThread(() => {
    started.push(threads[started.length]!);
    return started.at(-1)! as never;
  });
  await ask(question);
  threads[0]!.emit("error", new Error("out of memory"));
  await ask(question);
  threads[0]!.emit("exit", 1);
  await ask(question);
  expect(started).toEqual(threads);
});

test("the thread keeps its process alive only while a count is under way", async () => {
  const thread = new Thread(false);
  const ask = openTokenThread(() => thread as never);
  const both = [ask(question), ask(question)];
  expect(thread.isKept).toBe(true);
  await Promise.all(both);
  expect(thread.isKept).toBe(false);
});
