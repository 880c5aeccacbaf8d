import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { newId, streamName } from "#events/ids.ts";
import type { StreamHead } from "#events/ports.ts";
import { createCollectionEmptier } from "./emptyCollections.ts";

const head = { stream: streamName("collection", newId()), organization_id: newId(), position: 7 } as StreamHead;

/** Empties a collection. The read model returns one of `pages` per query; each command appends an event at `position`. */
function start(pages: (string[] | undefined)[], position: number, held: string[] = []) {
  const calls = { queries: 0, sent: [] as string[], errors: [] as unknown[] };
  const emptier = createCollectionEmptier({
    listContent: async () => {
      const ids = pages[Math.min(calls.queries++, pages.length - 1)];
      const free = ids?.filter((id) => !held.includes(id));
      return free && { documents: { ids: free, areHeld: free.length === 0 && ids!.length > 0 }, sources: [] };
    },
    send: async (_target, type) => {
      calls.sent.push(type);
      return { position, repeated: false };
    },
    onError: (error) => calls.errors.push(error),
  });
  void emptier.resumeWork(head);
  return { calls, stop: emptier.stop };
}

describe("a deleted collection", () => {
  test("is empty once all of its documents are deleted", async () => {
    const { calls, stop } = start([["a", "b"], undefined, ["c"], []], 8);
    const commands = ["DeleteDocument", "DeleteDocument", "DeleteDocument", "EmptyCollection"];
    await expect.poll(() => calls.sent).toEqual(commands);
    await stop();
    expect(calls.errors).toEqual([]);
  });

  test("waits while a legal hold keeps the rest of its documents", async () => {
    const { calls, stop } = start([["a", "held"], ["held"]], 8, ["held"]);
    await sleep(350);
    expect(calls).toEqual({ queries: 2, sent: ["DeleteDocument"], errors: [] });
    await stop();
  });

  test("is left to the sweep if its documents are deleted already, but still in the read model", async () => {
    const { calls, stop } = start([["a"]], 0);
    await sleep(350);
    expect(calls).toEqual({ queries: 1, sent: ["DeleteDocument"], errors: [] });
    await stop();
  });
});
