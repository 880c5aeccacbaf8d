import { expect, test } from "vitest";
import { newId, streamName } from "#events/ids.ts";
import type { StreamHead } from "#events/ports.ts";
import { createEraser, type EraserOptions } from "./erasures.ts";

const head = { stream: streamName("erasure", newId()), organization_id: newId(), position: 7 } as StreamHead;
const owner = `key:${newId()}`;
type Owned = Awaited<ReturnType<EraserOptions["listOwned"]>>;
const threads = (...ids: string[]) => ({ threads: ids.map((id) => ({ id, scope: "s" })), files: [], held: false });

/** Erases what `pages` contain, one page a query; each deletion appends an event at `position`. */
function start(pages: Owned[], position: number) {
  const calls = { ranges: [] as unknown[], sent: [] as [string, object][], errors: [] as unknown[] };
  const eraser = createEraser({
    log: { read: async () => [{ position: 5, data: { owner } }] as never },
    listOwned: async (organization, whose, range) => {
      expect([organization, whose.owner]).toEqual([head.organization_id, owner]);
      calls.ranges.push(range);
      return pages[Math.min(calls.ranges.length - 1, pages.length - 1)];
    },
    send: async (_target, type, data) => {
      calls.sent.push([type, data]);
      return { position, repeated: false };
    },
    onError: (error) => calls.errors.push(error),
  });
  void eraser.attend(head);
  return { calls, stop: eraser.stop, types: () => calls.sent.map(([type]) => type) };
}

test("an erasure deletes threads and files batch by batch, records its progress, and completes", async () => {
  const mixed = { ...threads("a", "b"), files: [{ id: "f", scope: "s" }] };
  const { calls, types, stop } = start([mixed, undefined, threads("c"), threads()], 9);
  await expect.poll(() => types().at(-1)).toBe("CompleteErasure");
  expect(types().join(" ")).toBe(
    "DeleteThread DeleteThread DeleteFile AdvanceErasure DeleteThread AdvanceErasure CompleteErasure",
  );
  expect(calls.sent[2]).toEqual(["DeleteFile", { file_id: "f", scope: "s" }]);
  expect(calls.sent[3]).toMatchObject(["AdvanceErasure", { threads: 2, files: 1 }]);
  // only what is older than the erasure, once the read models show the last deletion
  expect(calls.ranges).toEqual([7, 9, 9, 9].map((position) => ({ before: 5, position })));
  await stop();
  expect(calls.errors).toEqual([]);
});

test("an erasure is left to the sweep when what it would delete is deleted already", async () => {
  const { calls, types, stop } = start([threads("a")], 0);
  await expect.poll(types).toEqual(["DeleteThread"]);
  await stop();
  expect([calls.ranges.length, types()]).toEqual([1, ["DeleteThread"]]);
});
