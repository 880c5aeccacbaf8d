import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { createFairSemaphore } from "#services/sharing/fairSemaphore.ts";
import { openSchemaChecker } from "./openSchemaChecker.ts";

const checker = openSchemaChecker(createFairSemaphore({ total: 1, perTenant: 1 }).run);
afterAll(checker.close);

const many = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
/** A schema in which each of 3,700 properties is looked up in every item. */
const wide = {
  type: "array",
  items: { properties: Object.fromEntries(many(3_700, (n) => [`p${n}`, { type: "string" }])) },
};
const backtracking = { type: "string", pattern: "^(a+)+$" };

/** Milliseconds that this thread computed while the checks ran. */
async function computingTime(checks: () => Promise<unknown>): Promise<number> {
  const start = process.threadCpuUsage();
  await checks();
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1000;
}

describe("a check that could hold the event loop", () => {
  test("of 60,000 items against 3,700 properties runs in another thread, and is stopped", async () => {
    const items = many(60_000, () => ({}));
    await checker.check("a", wide, [{}]);
    expect(await checker.check("a", wide, items)).toMatchObject({ message: expect.stringContaining("takes too long") });
    expect(await computingTime(() => checker.check("a", wide, items))).toBeLessThan(500);
  });

  test("with a pattern that backtracks is stopped", async () => {
    const value = `${"a".repeat(40)}!`;
    expect(await checker.check("a", backtracking, value)).toMatchObject({
      message: expect.stringContaining("takes too long"),
    });
    expect(await checker.check("a", backtracking, "aaa")).toBeUndefined();
  });

  test("of one organization does not make another one wait for all of them", async () => {
    const value = `${"a".repeat(40)}!`;
    let ended = 0;
    const attack = many(20, () => checker.check("a", backtracking, value).then(() => ended++));
    await sleep(10);
    await checker.check("b", { pattern: "^b$" }, "b");
    expect(ended).toBeLessThan(5);
    await Promise.all(attack);
  });
});

test("violations are the same in the thread", async () => {
  const schema = { properties: { a: { $ref: "#/$defs/n" } }, $defs: { n: { type: "integer" } } };
  expect(await checker.check("a", schema, { a: "x" })).toMatchObject({ pointer: "/a" });
  expect(await checker.check("a", schema, { a: 1 })).toBeUndefined();
});
