import { expect, test } from "vitest";
import type { MemoEntry } from "#services/workflows/tick.ts";
import { tickCall } from "#test/samples.ts";
import { orderFor } from "./tickAttempt.ts";
import { createTickThreadPool } from "./tickThreadPool.ts";

const entry = (n: number): MemoEntry => ({ key: `k${n}`, value: { json: `${n}` } });
const callWith = (memo: MemoEntry[]) => tickCall({ created_at: 1, now: 2, memo });

test("A thread gets the whole memo of a run first, then the new entries only", () => {
  const thread = createTickThreadPool().take("r1");
  const memo = [entry(1)];
  expect(orderFor(thread, callWith(memo))).toMatchObject({ from: 0, memo: [entry(1)], args: "{}", created_at: 1 });
  memo.push(entry(2), entry(3));
  const order = orderFor(thread, callWith(memo));
  expect(order).toMatchObject({ from: 1, memo: [entry(2), entry(3)] });
  expect(order).not.toHaveProperty("args");
});

test("A thread gets the whole memo when it is another array, even with the same entries", () => {
  const thread = createTickThreadPool().take("r1");
  orderFor(thread, callWith([entry(1)]));
  expect(orderFor(thread, callWith([entry(1)]))).toMatchObject({ from: 0, memo: [entry(1)] });
});

test("A run goes back to the idle thread that has its memo", () => {
  const pool = createTickThreadPool();
  const [first, second] = [pool.take("r1"), pool.take("r2")];
  orderFor(second, { ...callWith([entry(1)]), run_id: "r2" });
  Object.assign(first, { isBusy: false });
  Object.assign(second, { isBusy: false });
  expect(pool.take("r2")).toBe(second);
  expect(pool.take("r3")).toBe(first);
  expect(pool.forget("r2")).toEqual([second.thread]);
  expect(pool.forget("r2")).toEqual([]);
});
