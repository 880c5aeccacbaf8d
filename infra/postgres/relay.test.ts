import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ScannedEvent } from "#events/ports.ts";
import { relay } from "./relay.ts";

/* A relay over a log that is a list, in time that the test makes pass. */

vi.mock("node:timers/promises", () => ({
  setTimeout: (ms: number) => new Promise((resolve) => setTimeout(resolve, ms)),
}));

let stop: AbortController;
let over: Promise<void>;
/** Positions of the events that somebody may want; the log's end lies further on. */
let log: number[];
let head: number;
let stored: number | undefined;
let keeps: number[];
let reads: number;
let scans: number;
let published: number[];
let errors: unknown[];
let fails: Set<"scan" | "publish" | "keep">;
let commit: () => void;
let deaf: boolean;

interface StartOptions {
  hears?: boolean;
  batch?: number;
  resume?: (position: number) => Promise<number>;
}

beforeEach(() => {
  vi.useFakeTimers();
  stop = new AbortController();
  [log, keeps, published, errors] = [[], [], [], []];
  [head, stored, reads, scans, deaf] = [0, undefined, 0, 0, false];
  fails = new Set();
});
afterEach(async () => {
  stop.abort();
  await vi.advanceTimersByTimeAsync(1_000);
  await over;
  vi.useRealTimers();
});

function start({ hears = true, batch = 100, resume }: StartOptions = {}): void {
  const broken = (what: "scan" | "publish" | "keep"): void => {
    if (fails.has(what)) throw new Error(what);
  };
  over = relay(
    {
      pool: {
        async query({ name, values }: { name: string; values: [string, number] }) {
          if (name === "relay") {
            reads += 1;
            return { rows: stored === undefined ? [] : [{ position: stored }] };
          }
          broken("keep");
          keeps.push(values[1]);
          stored = Math.max(stored ?? 0, values[1]);
          return { rows: [] };
        },
      } as never,
      log: {
        async scan(after, _, limit) {
          scans += 1;
          broken("scan");
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
        broken("publish");
        published.push(...events.map(({ position }) => position));
      },
      ...(resume && { resume }),
      onError: (error) => void errors.push((error as Error).message),
      ...(hears && {
        onCommitted(listener) {
          commit = listener;
          return () => void (deaf = true);
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
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe("a relay that hears of commits", () => {
  test("publishes at once, and does not wait for its next look", async () => {
    start();
    await pass(10);
    add(1, 2);
    await pass(100);
    expect(published).toEqual([]);
    commit();
    await pass(0);
    expect(published).toEqual([1, 2]);
  });
  test("takes what comes while it publishes a moment later, in one round", async () => {
    start();
    await pass(10);
    add(1);
    commit();
    await pass(0);
    const before = scans;
    for (let n = 2; n <= 9; n++) {
      add(n);
      commit();
    }
    await pass(0);
    expect(published).toEqual([1]);
    await pass(2);
    expect([published, scans - before]).toEqual([[1, 2, 3, 4, 5, 6, 7, 8, 9], 1]);
  });
  test("looks by itself where a hint was lost", async () => {
    start();
    await pass(10);
    add(1);
    await pass(251);
    expect(published).toEqual([1]);
  });
});

test("one that hears of nothing looks four times a second", async () => {
  start({ hears: false });
  await pass(1_000);
  expect(scans).toBeGreaterThanOrEqual(4);
  expect(scans).toBeLessThanOrEqual(5);
  add(1);
  await pass(250);
  expect(published).toEqual([1]);
});

test("goes on without a pause while there is more than it takes at a time", async () => {
  add(...Array.from({ length: 25 }, (_, n) => n + 1));
  start({ batch: 10 });
  await pass(0);
  expect(published).toEqual(log);
});

describe("how far it has come", () => {
  test("is read once, and put down when there is nothing more", async () => {
    stored = 3;
    add(1, 2, 3, 4, 5);
    start();
    await pass(0);
    expect([published, keeps]).toEqual([[4, 5], []]);
    await pass(251);
    await pass(1_000);
    expect([reads, keeps]).toEqual([1, [5]]);
  });
  test("is put down every 20 rounds while there is always more", async () => {
    start();
    await pass(10);
    keeps.length = 0;
    for (let n = 1; n <= 45; n++) {
      add(n);
      commit();
      await pass(2);
    }
    expect(published).toHaveLength(45);
    expect(keeps).toEqual([20, 40]);
  });
  test("is not put down by one that leads no more, and it hears of nothing more: another may have begun on an older log", async () => {
    start();
    await pass(10);
    add(1, 2, 3);
    commit();
    await pass(0);
    stop.abort();
    await pass(10);
    await over;
    expect([stored, deaf]).toEqual([undefined, true]);
  });
  test("follows the log where that has less than it had, as a database that was restored", async () => {
    add(1, 2, 3, 4, 5);
    start();
    await pass(10);
    [log, head] = [[1, 2, 3], 3];
    commit();
    await pass(10);
    add(4, 5);
    commit();
    await pass(10);
    expect(published).toEqual([1, 2, 3, 4, 5, 4, 5]);
  });
});

describe("what fails is told and done again, and nothing is left out", () => {
  test.each([["scan" as const], ["publish" as const], ["keep" as const]])("%s", async (what) => {
    start();
    await pass(10);
    fails.add(what);
    add(1, 2);
    commit();
    await pass(600);
    expect(errors.length).toBeGreaterThan(0);
    expect(new Set(errors)).toEqual(new Set([what]));
    fails.clear();
    await pass(600);
    expect(published).toEqual([1, 2]);
    expect(stored).toBe(2);
  });
});

test("asks from where to go on at first, after what failed, and every 30 s, and publishes again what was lost", async () => {
  [stored, head, log] = [3, 3, [1, 2, 3]];
  const asked: number[] = [];
  let lost = 1;
  const resume = async (position: number) => {
    asked.push(position);
    return Math.min(position, lost);
  };
  start({ resume });
  await pass(10);
  expect([asked, published]).toEqual([[3], [2, 3]]);
  lost = 9;
  fails.add("publish");
  add(4);
  await pass(600);
  const failed = asked.length;
  expect(failed).toBe(2);
  fails.clear();
  await pass(300);
  expect([asked.length, published.at(-1)]).toEqual([failed + 1, 4]);
  await pass(20_000);
  expect(asked.length).toBe(failed + 1);
  lost = 0;
  await pass(10_300);
  expect(published.slice(-4)).toEqual([1, 2, 3, 4]);
});
