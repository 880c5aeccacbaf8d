import { EventEmitter } from "node:events";
import { expect, test, vi } from "vitest";
import { countTokens } from "./tokens.ts";

const threads: EventEmitter[] = [];
vi.mock("node:worker_threads", () => ({
  /** Ends at its first question; later threads answer 7. */
  Worker: class extends EventEmitter {
    constructor() {
      super();
      threads.push(this);
    }
    ref() {}
    unref() {}
    postMessage({ id, texts }: { id: number; texts: string[] }) {
      const isFirst = threads.length === 1;
      queueMicrotask(() =>
        isFirst ? this.emit("exit", 1) : this.emit("message", { id, tokens: 7, units: texts[0]!.length }),
      );
    }
  },
}));

test("who waits for a thread that is lost hears of it, and the next count starts another", async () => {
  await expect(countTokens("words")).rejects.toThrow("The thread that counts tokens ended.");
  expect(await countTokens("words")).toBe(7);
  expect(await countTokens("more words")).toBe(7);
  expect(threads).toHaveLength(2);
});
