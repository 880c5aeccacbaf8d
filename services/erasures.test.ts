import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { newId, streamName } from "#events/ids.ts";
import type { StreamHead } from "#events/ports.ts";
import { run } from "./deciders/run.ts";
import { createEraser, type EraserOptions } from "./erasures.ts";

const head = { stream: streamName("erasure", newId()), organization_id: newId(), position: 7 } as StreamHead;
const owner = `key:${newId()}`;
const admin = newId();
type OwnedThings = Awaited<ReturnType<EraserOptions["listOwned"]>>;
const NOTHING = { threads: [], files: [], documents: [], extractions: [], runs: { live: [], ended: [] }, held: false };
const threads = (...ids: string[]) => ({ ...NOTHING, threads: ids.map((id) => ({ id, scope: "s" })) });
const runsOf = (runs: { live?: string[]; ended?: string[] }) => ({ ...NOTHING, runs: { ...NOTHING.runs, ...runs } });
/** The head of a run that has ended; `more` is still to be settled. */
const endedRun = (position: number, more: object = {}) =>
  ({
    position,
    state_version: run.version,
    state: { status: "cancelled", epoch: 1, forget_at: "x", ...more },
  }) as never;
const DELETED = { threads: 9, files: 1, runs: 2, documents: 0, extractions: 0 };

interface Answers {
  heads?: Record<string, StreamHead>[];
  /** Whether a command is refused because of a hold. */
  isRefused?(type: string, data: Record<string, unknown>): boolean;
  /** Runs that this erasure has destroyed according to the log, and the runs listed as derived from them, one list per query. */
  destroyed?: string[];
  left?: Awaited<ReturnType<EraserOptions["listRunsFrom"]>>[];
}

/** Erases what `pages` contain, one page per query; each deletion appends an event at `position`. */
function start(
  pages: OwnedThings[],
  position: number,
  { heads = [], isRefused = () => false, destroyed = [], left = [] }: Answers = {},
) {
  const calls = {
    ranges: [] as unknown[],
    sent: [] as [string, object][],
    errors: [] as unknown[],
    targets: [] as unknown[],
  };
  let reads = 0;
  const started = { position: 5, data: { owner, kinds: ["runs"] }, meta: { principal: `person:${admin}` } };
  const eraser = createEraser({
    log: {
      event: async () => started as never,
      read: async () => [],
      heads: async () => new Map(Object.entries(heads[Math.min(reads++, heads.length - 1)] ?? {})),
    },
    frames: { requestStop: () => {} },
    listOwned: async (organization, query, range) => {
      expect([organization, query]).toEqual([head.organization_id, { owner, kinds: ["runs"] }]);
      calls.ranges.push(range);
      return pages[Math.min(calls.ranges.length - 1, pages.length - 1)];
    },
    readDeletions: async (...asked) => {
      expect(asked).toEqual([head.organization_id, head.stream, 5]);
      return { counts: DELETED, runs: destroyed };
    },
    listRunsFrom: async (organization, runs) => {
      expect([organization, runs]).toEqual([head.organization_id, destroyed]);
      return left.shift() ?? { live: [], ended: [], held: false };
    },
    belongingsOf: async () => ({ threads: ["own"], files: ["saved"] }),
    send: async (target, type, data) => {
      calls.sent.push([type, data]);
      calls.targets.push(target.request_id);
      if (isRefused(type, data))
        return { position: 0, repeated: false, rejection: { code: "legal_hold", message: "Held." } };
      return { position, repeated: false };
    },
    onError: (error) => calls.errors.push(error),
  });
  const resumeWork = () => eraser.resumeWork(head);
  void resumeWork();
  return { calls, resumeWork, stop: eraser.stop, types: () => calls.sent.map(([type]) => type) };
}

test("an erasure deletes batch by batch, records its progress, and completes with the counts of the log", async () => {
  const mixed = { ...threads("a", "b"), files: [{ id: "f", scope: "s" }], documents: ["d"], extractions: ["e"] };
  const { calls, types, stop } = start([mixed, undefined, threads("c"), threads()], 9);
  await expect.poll(() => types().at(-1)).toBe("CompleteErasure");
  expect(types().join(" ")).toBe(
    "DeleteThread DeleteThread DeleteFile DeleteDocument DeleteExtraction AdvanceErasure DeleteThread AdvanceErasure CompleteErasure",
  );
  expect(calls.sent[2]).toEqual(["DeleteFile", { file_id: "f", scope: "s" }]);
  const counts = { threads: 2, files: 1, runs: 0, documents: 1, extractions: 1 };
  expect(calls.sent[5]).toMatchObject(["AdvanceErasure", counts]);
  expect(calls.sent.at(-1)).toMatchObject(["CompleteErasure", { deleted: DELETED }]);
  // only things older than the erasure, once the read models show the last deletion
  expect(calls.ranges).toEqual([7, 9, 9, 9].map((position) => ({ before: 5, position })));
  await stop();
  expect(calls.errors).toEqual([]);
});

test("an erasure is left to the sweep if its next things are already deleted", async () => {
  const { calls, types, stop } = start([threads("a")], 0);
  await expect.poll(types).toEqual(["DeleteThread"]);
  await stop();
  expect([calls.ranges.length, types()]).toEqual([1, ["DeleteThread"]]);
});

test("a live run is cancelled and then destroyed with what its steps have left, each in the name of the erasure", async () => {
  const pages = [runsOf({ live: ["r"] }), runsOf({ ended: ["r"] }), NOTHING];
  const { calls, types, stop } = start(pages, 9, { heads: [{}, { "run-r": endedRun(9) }] });
  await expect.poll(() => types().at(-1)).toBe("CompleteErasure");
  await stop();
  expect(types().join(" ")).toBe("CancelRun DeleteThread DeleteFile ForgetRun AdvanceErasure CompleteErasure");
  expect(calls.sent[0]![1]).toMatchObject({ run_id: "r", by: { type: "person", id: admin } });
  expect(calls.sent[3]![1]).toEqual({ run_id: "r", by_rule: true });
  expect(calls.sent[4]![1]).toMatchObject({ threads: 1, files: 1, runs: 1 });
  expect(calls.targets.slice(0, 4)).toEqual(Array(4).fill(head.stream));
});

test("a run that has just ended is destroyed once it is settled, its steps are over and the read models show what came from it", async () => {
  const heads = [
    { "run-r": endedRun(7, { settling: { cancel: [], unstarted: [], notify: [] } }) },
    { "run-r": endedRun(7, { steps: [{ key: "a" }] }) },
    { "run-r": endedRun(12) },
  ];
  const { calls, types, resumeWork, stop } = start([runsOf({ ended: ["r"] })], 0, { heads });
  // the sweep resumes the work repeatedly, too
  await expect.poll(() => resumeWork().then(() => types().at(-1))).toBe("ForgetRun");
  expect(calls.ranges.slice(0, 4)).toEqual([7, 7, 7, 12].map((position) => ({ before: 5, position })));
  await stop();
});

test("a run stays while a hold keeps one of its threads, and the erasure does not complete", async () => {
  const pages = [runsOf({ ended: ["r"] })];
  const isRefused = (type: string) => type === "DeleteThread";
  const { types, stop } = start(pages, 9, { heads: [{ "run-r": endedRun(7) }], isRefused });
  await expect.poll(types).toEqual(["DeleteThread"]);
  await stop();
  expect(types()).toEqual(["DeleteThread"]);
});

test("an erasure also erases what others have forked from destroyed runs before it completes, and waits while a hold keeps that", async () => {
  const left = [
    { live: ["fork"], ended: [], held: false },
    { live: [], ended: ["fork"], held: true },
    { live: [], ended: [], held: true },
  ];
  // each round asks for the heads of the owner's runs, and then of the remaining ones
  const heads: Record<string, StreamHead>[] = [{}, {}, {}, { "run-fork": endedRun(9) }, {}];
  const { types, resumeWork, stop } = start([NOTHING], 9, { heads, destroyed: ["r"], left });
  await expect.poll(() => left.length).toBe(0);
  await resumeWork();
  expect(types()).toEqual(["CancelRun", "DeleteThread", "DeleteFile", "ForgetRun", "AdvanceErasure"]);
  // after the release, the sweep resumes the work again
  await expect.poll(() => resumeWork().then(() => types().at(-1))).toBe("CompleteErasure");
  await stop();
});

test("an erasure that waits for a hold is looked at less and less often, however often the sweep finds it", async () => {
  const { calls, types, resumeWork, stop } = start([{ ...NOTHING, held: true }], 9);
  for (let n = 0; n < 50; n++) {
    await resumeWork();
    await sleep(5);
  }
  await stop();
  expect(calls.ranges.length).toBeLessThan(10);
  expect(types()).toEqual([]);
});
