import { describe, expect, test } from "vitest";
import { createCapacity } from "./capacity.ts";
import { createFairQueue } from "./fairQueue.ts";
import { createFairSemaphore, createLimiter } from "./fairSemaphore.ts";
import { createTurnstile } from "./turnstile.ts";

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("A fair queue", () => {
  const queueOf = (...items: string[]) => {
    const queue = createFairQueue<string>();
    for (const item of items) queue.add(item[0]!, item);
    return queue;
  };
  const drain = (queue: ReturnType<typeof queueOf>, isEligible?: (tenant: string) => boolean) => {
    const items: string[] = [];
    for (let item = queue.next(isEligible); item; item = queue.next(isEligible)) items.push(item);
    return items.join(" ");
  };

  test.each([
    ["is empty at first", [], ""],
    ["keeps one tenant's items in order", ["a1", "a2", "a3"], "a1 a2 a3"],
    ["serves tenants in turns", ["a1", "a2", "a3", "b1", "c1", "c2"], "a1 b1 c1 a2 c2 a3"],
  ])("%s", (_, items, order) => {
    const queue = queueOf(...items);
    expect(queue.size()).toBe(items.length);
    expect(drain(queue)).toBe(order);
    expect(queue.size()).toBe(0);
  });

  test("lets a late tenant wait for one item of each other tenant, not for all of them", () => {
    const queue = queueOf("a1", "a2", "a3");
    expect(queue.next()).toBe("a1");
    queue.add("b", "b1");
    expect(drain(queue)).toBe("a2 b1 a3");
  });

  test("takes items of a lower rank first, and equal ones in order, without a tenant's turn", () => {
    const queue = createFairQueue<string>((item) => Number(item[1]));
    for (const item of ["a2x", "a1x", "a2y", "a0x", "b2x", "a1y"]) queue.add(item[0]!, item);
    expect(drain(queue)).toBe("a0x b2x a1x a1y a2x a2y");
  });

  test("skips tenants that are not eligible and keeps their turn", () => {
    const queue = queueOf("a1", "b1", "b2");
    expect(drain(queue, (tenant) => tenant !== "a")).toBe("b1 b2");
    expect(drain(queue)).toBe("a1");
  });

  test("forgets items that were removed", () => {
    const queue = queueOf("a1", "a2", "b1");
    queue.remove("a", "a1");
    queue.remove("b", "b1");
    queue.remove("c", "c1");
    expect([queue.size(), drain(queue)]).toEqual([1, "a2"]);
    queue.add("a", "a3");
    queue.clear();
    expect([queue.size(), drain(queue)]).toEqual([0, ""]);
  });
});

test.each([
  ["has room below both limits", "a a b", { a: false, b: true, c: true }],
  ["has no room at the total limit", "a b b c", { a: false, b: false, c: false }],
  ["counts work beyond a limit, too", "a a a -a", { a: false, b: true }],
  ["has room again after a release", "a a -a", { a: true }],
  ["lends the total limit to other tenants, not to the lender", "a a ~ ~", { a: false, b: true }],
  ["counts lent work of its tenant until it ends", "a a ~ =a", { a: true }],
])("A capacity of 4, 2 for each tenant, %s", (_, script, rooms) => {
  const capacity = createCapacity({ total: 4, perTenant: 2 });
  for (const operation of script.split(" ")) {
    if (operation === "~") capacity.lend();
    else if (operation.startsWith("-")) capacity.release(operation[1]!);
    else if (operation.startsWith("=")) capacity.releaseLent(operation[1]!);
    else capacity.take(operation);
  }
  expect(Object.fromEntries(Object.keys(rooms).map((tenant) => [tenant, capacity.hasRoom(tenant)]))).toEqual(rooms);
});

describe("A fair semaphore", () => {
  /** Interprets a script: `a` acquires for tenant a, `3a` three permits, `-a` releases, `~` lends, `=a` releases what was lent. */
  async function admissions(limits: { total: number; perTenant: number }, script: string): Promise<string> {
    const semaphore = createFairSemaphore(limits);
    let admitted = "";
    for (const operation of script.split(" ")) {
      const tenant = operation.at(-1)!;
      const amount = Number(/\d+/.exec(operation)?.[0] ?? 1);
      if (operation === "~") semaphore.lend();
      else if (operation.startsWith("=")) semaphore.releaseLent(tenant);
      else if (operation.startsWith("-")) semaphore.release(tenant, amount);
      else void semaphore.acquire(tenant, undefined, amount).then(() => (admitted += tenant));
      await settled();
    }
    return admitted;
  }

  const one = { total: 1, perTenant: 1 };
  const four = { total: 4, perTenant: 2 };
  test.each([
    ["admits work that needs several permits when they are free", { total: 4, perTenant: 3 }, "2a 2a b -2a", "aba"],
    ["admits work that needs more permits than a tenant has", four, "9a a b 9b -9a -b", "abab"],
    ["admits up to its total limit", { total: 2, perTenant: 2 }, "a b c", "ab"],
    ["admits waiting tenants in turns", one, "a a a b c b -a -a -b -c -a", "aabcab"],
    ["leaves room that one tenant cannot take", four, "a a a a b", "aab"],
    ["admits a tenant at its limit when it releases", four, "a a a a b -a", "aaba"],
    ["admits another tenant to a lent permit", one, "a a b ~", "ab"],
    ["admits no more of the lender while its permit is lent", one, "a a b ~ =a", "ab"],
    ["admits the lender after its permit and the borrowed one ended", one, "a a b ~ =a -b", "aba"],
  ])("%s", async (_, limits, script, order) => {
    expect(await admissions(limits, script)).toBe(order);
  });

  test("gives permits without a wait only if there is room and nobody of the tenant waits", async () => {
    const semaphore = createFairSemaphore({ total: 4, perTenant: 3 });
    expect([semaphore.tryAcquire("a", 2), semaphore.tryAcquire("a", 2), semaphore.tryAcquire("b", 3)]).toEqual([
      true,
      false,
      false,
    ]);
    const waiting = semaphore.acquire("a", undefined, 2);
    expect([semaphore.tryAcquire("a"), semaphore.tryAcquire("b")]).toEqual([false, true]);
    semaphore.release("a", 2);
    await waiting;
    expect([semaphore.tryAcquire("a"), semaphore.tryAcquire("a")]).toEqual([true, false]);
  });

  test("rejects a waiter whose signal aborts and admits the next one", async () => {
    const semaphore = createFairSemaphore(one);
    const aborter = new AbortController();
    await semaphore.acquire("a");
    const aborted = semaphore.acquire("b", aborter.signal);
    const next = semaphore.acquire("b");
    aborter.abort(new Error("not wanted"));
    await expect(aborted).rejects.toThrow("not wanted");
    await expect(semaphore.acquire("c", aborter.signal)).rejects.toThrow("not wanted");
    semaphore.release("a");
    await expect(next).resolves.toBeUndefined();
  });
});

test("A limiter runs work in order, at most so much at once, also after some has failed", async () => {
  const limit = createLimiter(2);
  const started: number[] = [];
  let [running, peak] = [0, 0];
  const work = (n: number) =>
    limit(async () => {
      started.push(n);
      peak = Math.max(peak, ++running);
      await settled();
      running--;
      if (n === 1) throw new Error("one");
      return n;
    });
  const outcomes = await Promise.allSettled([0, 1, 2, 3, 4].map(work));
  expect(outcomes.map(({ status }) => status === "fulfilled")).toEqual([true, false, true, true, true]);
  expect(started).toEqual([0, 1, 2, 3, 4]);
  expect(peak).toBe(2);
});

/** How many of 100 callers got past `wait` in each turn of the event loop. */
async function passedInTurns(wait: () => Promise<void>): Promise<number[]> {
  const passed = [0];
  let isOver = false;
  const countTurn = () => void (isOver || (passed.push(0), setImmediate(countTurn)));
  setImmediate(countTurn);
  await Promise.all(Array.from({ length: 100 }, async () => wait().then(() => void passed[passed.length - 1]!++)));
  isOver = true;
  return passed;
}

test("A turnstile lets the same few pass in each turn of the event loop", async () => {
  const { pass } = createTurnstile(30);
  expect(await passedInTurns(pass)).toEqual([30, 30, 30, 10]);
  await settled();
  expect(await passedInTurns(pass)).toEqual([30, 30, 30, 10]);
});

test("Work that ends without waiting does not start all that waits for its permit in one turn of the event loop", async () => {
  const semaphore = createFairSemaphore({ total: 2, perTenant: 2 });
  const passed = await passedInTurns(() => semaphore.run("a", async () => {}));
  expect(Math.max(...passed)).toBeLessThanOrEqual(8);
});
