import { expect, test } from "vitest";
import { createStepThreadPool } from "./stepThreadPool.ts";

test("attempts of a tenant share threads, and more of them share one when there are many", () => {
  const threads = createStepThreadPool();
  const taken = Array.from({ length: 20 }, () => threads.take("a"));
  expect(taken.slice(0, 16)).toEqual([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]);
  expect(taken.slice(16)).toEqual([0, 1, 2, 3]);
  expect(new Set(Array.from({ length: 44 }, () => threads.take("a")))).toEqual(new Set([0, 1, 2, 3]));
  expect(threads.take("a")).toBe(4);
});

test("two tenants never share a thread", () => {
  const threads = createStepThreadPool();
  const tenants = Array.from({ length: 64 }, (_, n) => `tenant ${n % 16}`);
  const owners = new Map<number, string>();
  for (const tenant of tenants) {
    const thread = threads.take(tenant);
    expect(owners.get(thread) ?? tenant).toBe(tenant);
    owners.set(thread, tenant);
  }
  expect(owners.size).toBe(16);
});

test("an idle thread is taken by any tenant, but first by the one it worked for", () => {
  const threads = createStepThreadPool();
  for (const tenant of ["a", "b"]) threads.take(tenant);
  for (const thread of [0, 1]) expect(threads.release(thread)).toBe(false);
  expect([threads.take("b"), threads.take("c"), threads.take("a")]).toEqual([1, 0, 2]);
});

test("surplus idle threads are ended, and a lost thread is not taken again", () => {
  const threads = createStepThreadPool();
  const taken = Array.from({ length: 10 }, (_, n) => threads.take(`tenant ${n}`));
  expect(taken.map((thread) => threads.release(thread))).toEqual([true, true, ...Array(8).fill(false)]);
  threads.remove(2);
  expect(threads.release(2)).toBe(false);
  expect(threads.take("tenant 2")).toBe(3);
});
