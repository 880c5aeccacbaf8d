import { describe, expect, test } from "vitest";
import type { StreamHead } from "#events/ports.ts";
import type { CommittedCommand } from "./handle.ts";
import { createLeasedWork } from "./leasedWork.ts";

interface Piece {
  stream: string;
  attempt: number;
}
const keyOf = ({ stream, attempt }: Piece) => `${stream}/${attempt}`;
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Work on streams named `<organization>-<n>`; `lost` is what the sweep finds. */
function open({ total = 4, perTenant = 2, hasShare = (_: string): boolean => true } = {}) {
  const started: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const errors: unknown[] = [];
  const signals: AbortSignal[] = [];
  let lost: { worker: string | null; needsRoom: boolean } = { worker: null, needsRoom: true };
  const work = createLeasedWork<Piece, { ended: Promise<void> }>({
    worker: "w1",
    limits: { total, perTenant },
    hasShare,
    identify: (piece) => ({ key: keyOf(piece), stream: piece.stream, organization_id: piece.stream[0]! }),
    leasedBy: ({ command: { stream, worker } }) => [{ worker: worker ?? null, work: { stream, attempt: 1 } }],
    open: async ({ stream }, isHeld) => {
      if (isHeld(`${stream}/1`) || isHeld(`${stream}/2`)) return undefined;
      return { key: `${stream}/1`, ...lost, takeOver: async (start) => start({ stream, attempt: 2 }) };
    },
    start: (piece, stopping) => {
      const end = Promise.withResolvers<void>();
      ends.set(keyOf(piece), end);
      started.push(keyOf(piece));
      signals.push(stopping);
      return { ended: end.promise };
    },
    onError: (error) => void errors.push(error),
  });
  return {
    ...work,
    started,
    errors,
    signals,
    end: async (key: string, error?: Error) => {
      if (error) ends.get(key)!.reject(error);
      else ends.get(key)!.resolve();
      await settled();
    },
    commit: (stream: string, worker = "w1") => work.afterCommit({ command: { stream, worker } } as CommittedCommand),
    sweep: (stream: string, found = lost) => {
      lost = found;
      return work.resumeWork({ stream, organization_id: stream[0]! } as StreamHead);
    },
  };
}

describe("Leased work", () => {
  test("starts once after the commit that gives it to this process", () => {
    const { commit, started, busy } = open();
    commit("a-1");
    commit("a-1");
    commit("b-1", "w2");
    expect(started).toEqual(["a-1/1"]);
    expect(busy()).toEqual(["a-1"]);
  });

  test("has room below the limit of the process and of each organization", async () => {
    const { commit, hasRoom, end } = open({ total: 3, perTenant: 2 });
    commit("a-1");
    commit("a-2");
    expect([hasRoom("a"), hasRoom("b")]).toEqual([false, true]);
    commit("b-1");
    expect(hasRoom("b")).toBe(false);
    await end("a-1/1");
    expect([hasRoom("a"), hasRoom("b")]).toEqual([true, true]);
  });

  test("has no room, and is not taken over, while its organization has no share of something else", async () => {
    const { hasRoom, sweep, started } = open({ hasShare: (organization) => organization !== "a" });
    expect([hasRoom("a"), hasRoom("b")]).toEqual([false, true]);
    for (const stream of ["a-1", "b-1"]) await sweep(stream);
    expect(started).toEqual(["b-1/2"]);
  });

  test("is taken over with the next attempt, and not again while it runs", async () => {
    const { sweep, started } = open();
    await sweep("a-1");
    await sweep("a-1");
    expect(started).toEqual(["a-1/2"]);
  });

  test("is not taken over without room, unless it needs none", async () => {
    const { commit, sweep, started } = open({ total: 1, perTenant: 1 });
    commit("a-1");
    await sweep("b-1");
    expect(started).toEqual(["a-1/1"]);
    await sweep("b-1", { worker: null, needsRoom: false });
    expect(started).toEqual(["a-1/1", "b-1/2"]);
  });

  test("of this process that it does not hold is taken over when a second sweep sees it", async () => {
    const { sweep, started } = open();
    const own = { worker: "w1", needsRoom: true };
    await sweep("a-1", own);
    expect(started).toEqual([]);
    await sweep("a-1", own);
    expect(started).toEqual(["a-1/2"]);
  });

  test("that fails is reported and makes room", async () => {
    const { commit, end, errors, hasRoom, busy } = open({ total: 1, perTenant: 1 });
    commit("a-1");
    await end("a-1/1", new Error("broken"));
    expect(errors).toEqual([new Error("broken")]);
    expect([hasRoom("a"), busy()]).toEqual([true, []]);
  });

  test("ends before a stop resolves, and nothing starts after it", async () => {
    const { commit, sweep, end, stop, started, signals, hasRoom } = open();
    commit("a-1");
    let isOver = false;
    const stopped = stop().then(() => (isOver = true));
    await settled();
    expect([isOver, signals[0]!.aborted, hasRoom("b")]).toEqual([false, true, false]);
    commit("b-1");
    await sweep("b-2");
    await end("a-1/1");
    await stopped;
    expect(started).toEqual(["a-1/1"]);
  });
});
