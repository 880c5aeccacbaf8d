import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ScannedEvent } from "#events/ports.ts";

/* A relay over an in-memory log, with fake timers. */

vi.mock("node:timers/promises", () => ({
  setTimeout: (ms: number) => new Promise((resolve) => setTimeout(resolve, ms)),
}));
// Test files share a process's modules. A relay loaded by another file would wait by the real clock.
vi.resetModules();
const { relay } = await import("./relay.ts");

let stop: AbortController;
let relaying: Promise<void>;
/** Positions of the relay's events; the log's head may be further. */
let log: number[];
let head: number;
let stored: number | undefined;
let saves: number[];
let reads: number;
let scans: number;
let published: number[];
let errors: unknown[];
let fails: Set<"scan" | "publish" | "save">;
let commit: () => void;
let isUnsubscribed: boolean;

interface StartOptions {
  hasHints?: boolean;
  batch?: number;
  resume?: (position: number) => Promise<number>;
  isAwaited?: boolean;
  /** How long a read of the log takes. */
  scanMs?: number;
}

beforeEach(() => {
  vi.useFakeTimers();
  stop = new AbortController();
  [log, saves, published, errors] = [[], [], [], []];
  [head, stored, reads, scans, isUnsubscribed] = [0, undefined, 0, 0, false];
  fails = new Set();
});
afterEach(async () => {
  stop.abort();
  await vi.advanceTimersByTimeAsync(1_000);
  await relaying;
  vi.useRealTimers();
});

function start({ hasHints = true, batch = 100, resume, isAwaited = false, scanMs = 0 }: StartOptions = {}): void {
  const failIfSet = (step: "scan" | "publish" | "save"): void => {
    if (fails.has(step)) throw new Error(step);
  };
  relaying = relay(
    {
      pool: {
        async query({ name, values }: { name: string; values: [string, number] }) {
          if (name === "relay") {
            reads += 1;
            return { rows: stored === undefined ? [] : [{ position: stored }] };
          }
          failIfSet("save");
          saves.push(values[1]);
          stored = Math.max(stored ?? 0, values[1]);
          return { rows: [] };
        },
      } as never,
      log: {
        async scan(after, _, limit) {
          scans += 1;
          failIfSet("scan");
          if (scanMs > 0) await new Promise((resolve) => setTimeout(resolve, scanMs));
          const events = log.filter((position) => position > after).slice(0, limit);
          return {
            events: events.map((position) => ({ position }) as ScannedEvent),
            seen: events.length === limit ? events.at(-1)! : head,
          };
        },
      },
      name: "feed",
      types: ["RunStarted"],
      batch,
      async publish(events) {
        failIfSet("publish");
        published.push(...events.map(({ position }) => position));
      },
      ...(resume && { resume }),
      isAwaited: () => isAwaited,
      onError: (error) => void errors.push((error as Error).message),
      ...(hasHints && {
        onCommitted(listener) {
          commit = listener;
          return () => void (isUnsubscribed = true);
        },
      }),
    },
    stop.signal,
  );
}
const add = (...positions: number[]): void => {
  log.push(...positions);
  head = positions.at(-1)!;
};
/** Minimum time between two rounds triggered by hints. */
const ROUND_MS = 20;
/** The same while somebody waits for the events. */
const AWAITED_ROUND_MS = 2;
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe("a relay with commit hints", () => {
  test("publishes at once, without waiting for its next poll", async () => {
    start();
    await pass(10);
    add(1, 2);
    await pass(100);
    expect(published).toEqual([]);
    commit();
    await pass(0);
    expect(published).toEqual([1, 2]);
  });
  test("batches events that arrive while it publishes into one later round", async () => {
    start();
    await pass(ROUND_MS);
    add(1);
    commit();
    await pass(0);
    const before = scans;
    for (let n = 2; n <= 9; n++) {
      add(n);
      commit();
    }
    await pass(0);
    await pass(ROUND_MS - 1);
    expect(published).toEqual([1]);
    await pass(1);
    expect([published, scans - before]).toEqual([[1, 2, 3, 4, 5, 6, 7, 8, 9], 1]);
  });
  test("batches for a shorter time if somebody waits for the events", async () => {
    start({ isAwaited: true });
    await pass(ROUND_MS);
    add(1);
    commit();
    await pass(0);
    add(2);
    commit();
    await pass(AWAITED_ROUND_MS - 1);
    expect(published).toEqual([1]);
    await pass(1);
    expect(published).toEqual([1, 2]);
  });
  test("polls in case a hint was lost", async () => {
    start();
    await pass(10);
    add(1);
    await pass(ROUND_MS + 251);
    expect(published).toEqual([1]);
  });
});

test("a relay without commit hints polls four times a second", async () => {
  start({ hasHints: false });
  await pass(1_000);
  expect(scans).toBeGreaterThanOrEqual(4);
  expect(scans).toBeLessThanOrEqual(5);
  add(1);
  await pass(250);
  expect(published).toEqual([1]);
});

test("a relay with more events than one batch rests as long after each as it took, and no longer", async () => {
  add(...Array.from({ length: 25 }, (_, n) => n + 1));
  start({ batch: 10, scanMs: 30 });
  const countAt = async (ms: number) => {
    await pass(ms);
    return published.length;
  };
  expect([await countAt(30), await countAt(59), await countAt(1), await countAt(60)]).toEqual([10, 10, 20, 25]);
});

describe("a relay's checkpoint", () => {
  test("is read once, and saved when there are no more events", async () => {
    stored = 3;
    add(1, 2, 3, 4, 5);
    start();
    await pass(0);
    expect([published, saves]).toEqual([[4, 5], []]);
    await pass(251);
    await pass(1_000);
    expect([reads, saves]).toEqual([1, [5]]);
  });
  test("is saved every 20 rounds while events keep coming", async () => {
    start();
    await pass(10);
    await pass(ROUND_MS);
    saves.length = 0;
    for (let n = 1; n <= 45; n++) {
      add(n);
      commit();
      await pass(ROUND_MS);
    }
    expect(published).toHaveLength(45);
    expect(saves).toEqual([20, 40]);
  });
  test("is saved as soon as it is 500 positions old, because it counts as lag", async () => {
    start();
    await pass(ROUND_MS);
    add(499);
    commit();
    await pass(ROUND_MS);
    expect(saves).toEqual([]);
    add(500);
    commit();
    await pass(ROUND_MS);
    expect(saves).toEqual([500]);
  });
  test("is not saved after the end of the leader's term, and hints are unsubscribed, because another process may follow an older log by then", async () => {
    start();
    await pass(10);
    add(1, 2, 3);
    commit();
    await pass(0);
    stop.abort();
    await pass(10);
    await relaying;
    expect([stored, isUnsubscribed]).toEqual([undefined, true]);
  });
  test("goes back when the database was restored to an earlier position", async () => {
    add(1, 2, 3, 4, 5);
    start();
    await pass(ROUND_MS);
    [log, head] = [[1, 2, 3], 3];
    commit();
    await pass(ROUND_MS);
    add(4, 5);
    commit();
    await pass(ROUND_MS);
    expect(published).toEqual([1, 2, 3, 4, 5, 4, 5]);
  });
});

describe("a relay reports a failure, retries, and leaves no event out, when the step that fails is", () => {
  test.each([["scan" as const], ["publish" as const], ["save" as const]])("%s", async (step) => {
    start();
    await pass(10);
    fails.add(step);
    add(1, 2);
    commit();
    await pass(600);
    expect(errors.length).toBeGreaterThan(0);
    expect(new Set(errors)).toEqual(new Set([step]));
    fails.clear();
    await pass(600);
    expect(published).toEqual([1, 2]);
    expect(stored).toBe(2);
  });
});

test("a relay asks where to resume at the start, after a failure, and every 30 s, and publishes lost events again", async () => {
  [stored, head, log] = [3, 3, [1, 2, 3]];
  const positions: number[] = [];
  let lost = 1;
  const resume = async (position: number) => {
    positions.push(position);
    return Math.min(position, lost);
  };
  start({ resume });
  await pass(10);
  expect([positions, published]).toEqual([[3], [2, 3]]);
  lost = 9;
  fails.add("publish");
  add(4);
  await pass(600);
  const failed = positions.length;
  expect(failed).toBe(2);
  fails.clear();
  await pass(300);
  expect([positions.length, published.at(-1)]).toEqual([failed + 1, 4]);
  await pass(20_000);
  expect(positions.length).toBe(failed + 1);
  lost = 0;
  await pass(10_300);
  expect(published.slice(-4)).toEqual([1, 2, 3, 4]);
});
