import { beforeEach, describe, expect, test, vi } from "vitest";
import { Unavailable } from "#events/ports.ts";
import { trackProgress, type ProjectionProgress } from "./progress.ts";

let rows: { name: string; position: number }[] | Error;
let announce: (name: string, position: number) => void;
let progress: ProjectionProgress;
const query = vi.fn(async () => {
  if (rows instanceof Error) throw rows;
  return rows as never[];
});
beforeEach(() => {
  rows = [];
  query.mockClear();
  const onProjected = (listener: typeof announce) => ((announce = listener), () => {});
  progress = trackProgress({ hints: { onProjected, requestProjected: () => {} }, db: { query } });
});

describe("the progress of projections", () => {
  test("forgets announced positions when it is invalidated, and waits until they are reached again", async () => {
    announce("files", 7);
    progress.invalidate();
    rows = [{ name: "files", position: 5 }];
    expect(await progress.waitFor(["files"], 7, 100)).toBe(false);
    const recovered = progress.recovered(10_000);
    rows = [{ name: "files", position: 7 }];
    await recovered;
    expect(await progress.waitFor(["files"], 7, 100)).toBe(true);
  });

  test("needs no query for an announced position while it is valid", async () => {
    announce("files", 7);
    await progress.recovered(10_000);
    expect(await progress.waitFor(["files"], 7, 100)).toBe(true);
    expect(query).not.toHaveBeenCalled();
  });

  test("fails a recovery while the database is unavailable, and tries again at the next", async () => {
    announce("files", 7);
    progress.invalidate();
    rows = new Error("away");
    await expect(progress.recovered(10_000)).rejects.toThrow("away");
    rows = [{ name: "files", position: 7 }];
    await progress.recovered(10_000);
    expect(query).toHaveBeenCalledTimes(2);
  });

  test("is not waited for any longer once none of them has advanced for the given time", async () => {
    vi.useFakeTimers();
    rows = [{ name: "files", position: 5 }];
    let reached: boolean | undefined;
    void progress.waitFor(["files"], 7, 4_500, 2_000).then((is) => (reached = is));
    await vi.advanceTimersByTimeAsync(1_500);
    announce("keys", 6);
    await vi.advanceTimersByTimeAsync(1_900);
    expect(reached).toBeUndefined();
    await vi.advanceTimersByTimeAsync(200);
    expect(reached).toBe(false);
    vi.useRealTimers();
  });

  test("fails a request that has no time left for the recovery, which goes on", async () => {
    vi.useFakeTimers();
    announce("files", 7);
    progress.invalidate();
    const refused = expect(progress.recovered(4_000)).rejects.toBeInstanceOf(Unavailable);
    await vi.advanceTimersByTimeAsync(4_000);
    await refused;
    rows = [{ name: "files", position: 7 }];
    const recovered = progress.recovered(700);
    await vi.advanceTimersByTimeAsync(100);
    await recovered;
    vi.useRealTimers();
  });

  test("gives up a recovery after 5 s, so that requests are served from the current read models", async () => {
    vi.useFakeTimers();
    announce("files", 7);
    progress.invalidate();
    const recovered = progress.recovered(10_000);
    await vi.advanceTimersByTimeAsync(6_000);
    await recovered;
    vi.useRealTimers();
    expect(await progress.waitFor(["files"], 7, 100)).toBe(false);
  });
});
