import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { newId, streamName } from "#events/ids.ts";
import type { StreamHead } from "#events/ports.ts";
import { createCollectionEmptier } from "./emptyCollections.ts";

const head = { stream: streamName("collection", newId()), organization_id: newId(), position: 7 } as StreamHead;

/** Empties a collection. The read model returns one of `pages` per query; each command appends an event at `position`. */
function start(pages: (string[] | undefined)[], position: number) {
  const calls = { queries: 0, sent: [] as string[], errors: [] as unknown[] };
  const emptier = createCollectionEmptier({
    listContent: async () => {
      const documents = pages[Math.min(calls.queries++, pages.length - 1)];
      return documents && { documents, sources: [] };
    },
    send: async (_target, type) => {
      calls.sent.push(type);
      return { position, repeated: false };
    },
    onError: (error) => calls.errors.push(error),
  });
  void emptier.attend(head);
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

  test("is left to the sweep if its documents are deleted already, but still in the read model", async () => {
    const { calls, stop } = start([["a"]], 0);
    await sleep(350);
    expect(calls).toEqual({ queries: 1, sent: ["DeleteDocument"], errors: [] });
    await stop();
  });
});
