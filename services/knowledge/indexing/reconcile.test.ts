import { describe, expect, test, vi } from "vitest";
import { parseStreamName } from "#events/ids.ts";
import type { StreamHead } from "#events/ports.ts";
import { document } from "../../deciders/document.ts";
import type { IndexedGeneration } from "../passageIndex.ts";
import { createReconcile } from "./reconcile.ts";

/** Comparing takes at most a hundredth of the time: after one that took 20 ms, the next comes 2 s later. */
const PATIENCE = { timeout: 60_000 };

const generation = (document_id: string, passages = 3, number = 1): IndexedGeneration => ({
  document_id,
  generation: number,
  passages,
});
const short = (indexed: number, searchable: number) => ({ surplus: [], short: { indexed, searchable } });

const waste = (ms: number): void => {
  for (const until = performance.now() + ms; performance.now() < until; );
};

/** An index and a read model with one document of three passages. */
function openReconcile(intervalMs = 0) {
  const stores = {
    indexed: 3,
    searchable: 3,
    counts: 0,
    comparisons: 0,
    generations: [generation("a")],
    live: [generation("a")],
    deleted: new Set<string>(),
  };
  const reconcile = createReconcile(
    {
      index: {
        count: async () => stores.indexed,
        generations: async () => ((stores.comparisons += 1), stores.generations),
      },
      registry: {
        countSearchable: async () => ((stores.counts += 1), stores.searchable),
        listSearchable: async () => stores.live,
      },
      log: {
        read: async () => [],
        heads: async (streams) =>
          new Map(
            streams.map((stream) => {
              const isDeleted = stores.deleted.has(parseStreamName(stream).id);
              const state = isDeleted ? { status: "deleted" } : { status: "ready", live: { generation: 1 } };
              return [stream, { state, state_version: document.version } as StreamHead];
            }),
          ),
      },
    },
    intervalMs,
  );
  /** Index and read model have both followed the log up to position 4. */
  const run = (more: Partial<Parameters<typeof reconcile>[0]> = {}) =>
    reconcile({ serving: "i", covered: 4, projected: 4, except: [], ...more });
  return { stores, run };
}

describe("the comparison of the index with the read model", () => {
  test("reports passages that search may show and the index lacks, and accepts more passages that the log knows", async () => {
    const { stores, run } = openReconcile();
    expect(await run()).toBeUndefined();
    expect(await run()).toBeUndefined();
    stores.indexed = 2;
    expect(await run()).toEqual(short(2, 3));
    Object.assign(stores, { indexed: 5, generations: [generation("a"), generation("b", 2)] });
    expect(await run({ covered: 5, projected: 5 })).toBeUndefined();
  });

  test("reports deleted and superseded passages as surplus, which does not hide missing ones", async () => {
    const { stores, run } = openReconcile();
    Object.assign(stores, {
      indexed: 7,
      generations: [generation("a"), generation("a", 2, 2), generation("gone", 2)],
      deleted: new Set(["gone"]),
    });
    const surplus = [
      { document_id: "a", below_generation: null, only_generation: 2 },
      { document_id: "gone", below_generation: null },
    ];
    expect(await run({ projected: 3 })).toBeUndefined();
    await vi.waitFor(async () => expect(await run()).toEqual({ surplus }), PATIENCE);
    Object.assign(stores, { indexed: 3, generations: [generation("a", 1), generation("gone", 2)] });
    await vi.waitFor(
      async () => expect(await run()).toEqual({ surplus: surplus.slice(1), short: { indexed: 1, searchable: 3 } }),
      PATIENCE,
    );
    expect(stores.counts).toBeGreaterThan(0);
  });

  test("compares generations for at most a hundredth of the time", async () => {
    const { stores, run } = openReconcile();
    await run();
    const slow = stores.generations;
    Object.defineProperty(stores, "generations", { get: () => (waste(20), slow) });
    await vi.waitFor(async () => {
      await run();
      expect(stores.comparisons).toBe(2);
    }, PATIENCE);
    for (const until = performance.now() + 200; performance.now() < until; ) await run();
    expect(stores.comparisons).toBe(2);
  });
  test("does not count the searchable passages again while the same index covers the same events", async () => {
    const { stores, run } = openReconcile();
    const counts = async (...asked: Parameters<typeof run>) => {
      await run(...asked);
      return stores.counts;
    };
    const further = { covered: 5, projected: 5 };
    expect([await counts(), await counts(), await counts({ projected: 9 }), await counts(further)]).toEqual([
      1, 1, 1, 2,
    ]);
    expect([await counts({ ...further, except: ["d"] }), await counts({ ...further, serving: "j" })]).toEqual([3, 4]);
  });

  test("reports nothing missing while the read model is behind or does not exist", async () => {
    const behind = openReconcile();
    Object.assign(behind.stores, { indexed: 2, searchable: 2 });
    expect(await behind.run({ projected: 3 })).toBeUndefined();
    behind.stores.searchable = 3;
    expect(await behind.run()).toEqual(short(2, 3));

    const absent = openReconcile();
    Object.assign(absent.stores, { indexed: 2, searchable: 0 });
    expect(await absent.run()).toBeUndefined();
    absent.stores.searchable = 3;
    expect(await absent.run()).toEqual(short(2, 3));
  });

  test("counts a document again when it is no longer left out", async () => {
    const { stores, run } = openReconcile();
    Object.assign(stores, { indexed: 2, searchable: 2 });
    expect(await run({ except: ["d"] })).toBeUndefined();
    stores.searchable = 3;
    expect(await run()).toEqual(short(2, 3));
  });
});
