import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { newId, streamOf } from "#events/ids.ts";
import type { StreamHead } from "#events/ports.ts";
import { createEmptying } from "./emptying.ts";

const head = { stream: streamOf("collection", newId()), organization_id: newId(), position: 7 } as StreamHead;

/** Begins with a collection in which the read model finds these documents, look by look; what is sent leads to an event at the position. */
function begun(looks: (string[] | undefined)[], position: number) {
  const told = { looks: 0, sent: [] as string[], errors: [] as unknown[] };
  const emptying = createEmptying({
    documentsIn: async () => looks[Math.min(told.looks++, looks.length - 1)],
    send: async (_target, type) => {
      told.sent.push(type);
      return { position, repeated: false };
    },
    onError: (error) => told.errors.push(error),
  });
  void emptying.attend(head);
  return { told, stop: emptying.stop };
}

test("documents are deleted until none is left, and then the collection is empty", async () => {
  const { told, stop } = begun([["a", "b"], undefined, ["c"], []], 8);
  await expect.poll(() => told.sent).toEqual(["DeleteDocument", "DeleteDocument", "DeleteDocument", "EmptyCollection"]);
  await stop();
  expect(told.errors).toEqual([]);
});

test("documents that are gone already, but not from the read model, are left to the sweep", async () => {
  const { told, stop } = begun([["a"]], 0);
  await sleep(350);
  expect(told).toEqual({ looks: 1, sent: ["DeleteDocument"], errors: [] });
  await stop();
});
