import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createProcessPool } from "./processPool.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A pool of fake processes, named in the order of their start. */
function openPool({ usesNew = false } = {}) {
  const names = ["a", "b", "c"];
  const ended: string[] = [];
  const start = () => {
    const name = names.shift()!;
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    let [running, isAlive] = [0, true];
    return {
      name,
      gone,
      running: () => running,
      isAlive: () => isAlive,
      end() {
        isAlive = false;
        ended.push(name);
        resolve();
      },
      add: (work: number) => void (running += work),
    };
  };
  const pool = createProcessPool({ max: 2, busyAt: 2, usesNew, idle_ms: 1_000, start });
  const acquire = () => {
    const process = pool.acquire();
    process.add(1);
    return process;
  };
  return { pool, acquire, ended };
}
const namesOf = (processes: { name: string }[]) => processes.map(({ name }) => name).join("");

describe("A process pool", () => {
  test("starts another process in advance when the least busy one is busy", () => {
    const { acquire, pool } = openPool();
    expect(namesOf([acquire(), acquire(), acquire()])).toBe("aaa");
    expect(namesOf(pool.alive())).toBe("ab");
    expect(namesOf([acquire(), acquire(), acquire()])).toBe("bbb");
  });

  test("uses the new process at once when it is configured to", () => {
    const { acquire } = openPool({ usesNew: true });
    expect(namesOf([acquire(), acquire(), acquire(), acquire(), acquire()])).toBe("aabba");
  });

  test("replaces a process that has ended", () => {
    const { acquire } = openPool();
    acquire().end();
    expect(acquire().name).toBe("b");
  });

  test("ends its processes when they have been idle, and starts others for new work", async () => {
    const { acquire, pool, ended } = openPool();
    acquire().add(-1);
    pool.release();
    vi.advanceTimersByTime(999);
    acquire().add(-1);
    pool.release();
    vi.advanceTimersByTime(999);
    expect(ended).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(ended).toEqual(["a"]);
    expect(acquire().name).toBe("b");
  });

  test("ends its processes when it is closed", async () => {
    const { acquire, pool, ended } = openPool();
    acquire();
    await pool.close();
    expect(ended).toEqual(["a"]);
  });
});
