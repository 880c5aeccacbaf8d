import { expect, test, vi } from "vitest";
import { partsOf } from "#events/ids.ts";
import type { StreamHead } from "#events/ports.ts";
import { document } from "../../deciders/document.ts";
import type { Held } from "../passageIndex.ts";
import { createReconcile } from "./reconcile.ts";

const held = (document_id: string, passages = 3, generation = 1): Held => ({ document_id, generation, passages });
const short = (there: number, shown: number) => ({ surplus: [], short: { there, shown } });

function scale(everyMs = 0) {
  const holds = {
    there: 3,
    shown: 3,
    sums: 0,
    looks: 0,
    held: [held("a")],
    live: [held("a")],
    deleted: new Set<string>(),
  };
  const reconcile = createReconcile(
    {
      index: {
        count: async () => holds.there,
        generations: async () => ((holds.looks += 1), holds.held),
      },
      place: {
        shown: async () => ((holds.sums += 1), holds.shown),
        shownGenerations: async () => holds.live,
      },
      log: {
        read: async () => [],
        heads: async (streams) =>
          new Map(
            streams.map((stream) => {
              const isDeleted = holds.deleted.has(partsOf(stream).id);
              const state = isDeleted ? { status: "deleted" } : { status: "ready", live: { generation: 1 } };
              return [stream, { state, state_version: document.version } as StreamHead];
            }),
          ),
      },
    },
    everyMs,
  );
  /** The index was led up to 4, and the read model too. */
  const look = (more: Partial<Parameters<typeof reconcile>[0]> = {}) =>
    reconcile({ serving: "i", led: 4, shown: 4, except: [], ...more });
  return { holds, look };
}

test("passages that search may show and the index lacks are missing; more than that may be there while the log knows them", async () => {
  const { holds, look } = scale();
  expect(await look()).toBeUndefined();
  expect(await look()).toBeUndefined();
  holds.there = 2;
  expect(await look()).toEqual(short(2, 3));
  Object.assign(holds, { there: 5, held: [held("a"), held("b", 2)] });
  expect(await look({ led: 5, shown: 5 })).toBeUndefined();
});

test("what is deleted or superseded is too much, and does not hide what is missing", async () => {
  const { holds, look } = scale();
  Object.assign(holds, { there: 7, held: [held("a"), held("a", 2, 2), held("gone", 2)], deleted: new Set(["gone"]) });
  const surplus = [
    { document_id: "a", below_generation: null, only_generation: 2 },
    { document_id: "gone", below_generation: null },
  ];
  expect(await look({ shown: 3 })).toBeUndefined();
  await vi.waitFor(async () => expect(await look()).toEqual({ surplus }));
  Object.assign(holds, { there: 3, held: [held("a", 1), held("gone", 2)] });
  await vi.waitFor(async () =>
    expect(await look()).toEqual({ surplus: surplus.slice(1), short: { there: 1, shown: 3 } }),
  );
  expect(holds.sums).toBeGreaterThan(0);
});

test("generation by generation it is compared for a hundredth of the time at most", async () => {
  const { holds, look } = scale();
  await look();
  const slow = holds.held;
  Object.defineProperty(holds, "held", { get: () => (waste(20), slow) });
  await vi.waitFor(async () => {
    await look();
    expect(holds.looks).toBe(2);
  });
  for (const until = performance.now() + 200; performance.now() < until; ) await look();
  expect(holds.looks).toBe(2);
});
const waste = (ms: number): void => {
  for (const until = performance.now() + ms; performance.now() < until; );
};

test("the sum is not asked for while the same index was led no further", async () => {
  const { holds, look } = scale();
  const sums = async (...asked: Parameters<typeof look>) => {
    await look(...asked);
    return holds.sums;
  };
  const further = { led: 5, shown: 5 };
  expect([await sums(), await sums(), await sums({ shown: 9 }), await sums(further)]).toEqual([1, 1, 1, 2]);
  expect([await sums({ ...further, except: ["d"] }), await sums({ ...further, serving: "j" })]).toEqual([3, 4]);
});

test("a sum of a read model that is behind, or is not there, says nothing of what search will show", async () => {
  const behind = scale();
  Object.assign(behind.holds, { there: 2, shown: 2 });
  expect(await behind.look({ shown: 3 })).toBeUndefined();
  behind.holds.shown = 3;
  expect(await behind.look()).toEqual(short(2, 3));

  const absent = scale();
  Object.assign(absent.holds, { there: 2, shown: 0 });
  expect(await absent.look()).toBeUndefined();
  absent.holds.shown = 3;
  expect(await absent.look()).toEqual(short(2, 3));
});

test("what was left out counts again once it is not", async () => {
  const { holds, look } = scale();
  Object.assign(holds, { there: 2, shown: 2 });
  expect(await look({ except: ["d"] })).toBeUndefined();
  holds.shown = 3;
  expect(await look()).toEqual(short(2, 3));
});
