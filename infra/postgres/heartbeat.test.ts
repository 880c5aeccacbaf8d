import type pg from "pg";
import { afterEach, expect, test, vi } from "vitest";
import { Unavailable } from "#events/ports.ts";
import { startHeartbeat } from "./heartbeat.ts";

afterEach(() => void vi.useRealTimers());

/** A pool that answers its first query; the later ones wait for `answer`. */
function createStalledPool() {
  const sent: string[] = [];
  const waiting: (() => void)[] = [];
  const query = (given: string | pg.QueryConfig): Promise<void> => {
    sent.push(typeof given === "string" ? given : given.text);
    return sent.length === 1 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve));
  };
  const answer = (): void => waiting.splice(0).forEach((resolve) => resolve());
  return { pool: { query } as unknown as pg.Pool, sent, answer };
}

test("heartbeats that PostgreSQL does not answer hold two connections, and the last one ends before the process leaves", async () => {
  vi.useFakeTimers();
  const { pool, sent, answer } = createStalledPool();
  const heartbeat = await startHeartbeat(pool, { worker: "http-1", role: "http" }, () => {});
  await vi.advanceTimersByTimeAsync(10_000);
  expect(sent).toHaveLength(3);
  answer();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(sent).toHaveLength(4);

  const leaving = heartbeat.leave();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(sent).toHaveLength(4);
  answer();
  await vi.advanceTimersByTimeAsync(0);
  expect(sent.slice(4)).toEqual([expect.stringMatching(/^delete from ops.workers/)]);
  answer();
  await leaving;
});

test("a first heartbeat that finds no connection in time throws Unavailable, so that the start is tried again", async () => {
  const query = () => Promise.reject(new Error("timeout exceeded when trying to connect"));
  const pool = { query } as unknown as pg.Pool;
  await expect(startHeartbeat(pool, { worker: "http-1", role: "http" }, () => {})).rejects.toThrow(Unavailable);
});
