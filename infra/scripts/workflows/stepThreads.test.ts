import { expect, test } from "vitest";
import { createThreads } from "./stepThreads.ts";

test("a tenant's attempts share threads, more of them the more there are", () => {
  const threads = createThreads();
  const taken = Array.from({ length: 20 }, () => threads.take("a"));
  expect(taken.slice(0, 16)).toEqual([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]);
  expect(taken.slice(16)).toEqual([0, 1, 2, 3]);
  expect(new Set(Array.from({ length: 44 }, () => threads.take("a")))).toEqual(new Set([0, 1, 2, 3]));
  expect(threads.take("a")).toBe(4);
});

test("no two tenants share one", () => {
  const threads = createThreads();
  const tenants = Array.from({ length: 64 }, (_, n) => `tenant ${n % 16}`);
  const owners = new Map<number, string>();
  for (const tenant of tenants) {
    const thread = threads.take(tenant);
    expect(owners.get(thread) ?? tenant).toBe(tenant);
    owners.set(thread, tenant);
  }
  expect(owners.size).toBe(16);
});

test("one that is idle is taken by whoever comes, first by whom it worked for", () => {
  const threads = createThreads();
  for (const tenant of ["a", "b"]) threads.take(tenant);
  for (const thread of [0, 1]) expect(threads.leave(thread)).toBe(false);
  expect([threads.take("b"), threads.take("c"), threads.take("a")]).toEqual([1, 0, 2]);
});

test("threads that too many of stand idle are ended, and one that is lost is not taken again", () => {
  const threads = createThreads();
  const taken = Array.from({ length: 10 }, (_, n) => threads.take(`tenant ${n}`));
  expect(taken.map((thread) => threads.leave(thread))).toEqual([true, true, ...Array(8).fill(false)]);
  threads.lost(2);
  expect(threads.leave(2)).toBe(false);
  expect(threads.take("tenant 2")).toBe(3);
});
