import { expect, test } from "vitest";
import type { Db } from "#projections/projection.ts";
import { checkAppends, checkClock } from "./database.ts";

/** A database that answers every query with the result of `answer`. */
const databaseOf = (answer: () => unknown): Db => ({
  query: async <R>(): Promise<R[]> => [answer()] as any[],
});

test("a clock that differs more than is allowed is reported, with its direction", async () => {
  const db = databaseOf(() => ({ ms: Date.now() }));
  const checkAt = (offset_ms: number) =>
    checkClock({ settings: { CLOCK_OFFSET_SECONDS: 2 }, db }, () => Date.now() + offset_ms);
  expect(await checkAt(0)).toMatch(/^\d+ ms (ahead of|behind) the database's$/);
  expect(await checkAt(1_000)).toContain("ahead of");
  await expect(checkAt(60_000)).rejects.toMatchObject({
    what: expect.stringMatching(/^the clock of this machine is \d+\.\d s ahead of the database's$/),
    next: expect.stringContaining("more than 2 s off takes no work"),
  });
  await expect(checkAt(-60_000)).rejects.toThrow("behind the database's");
});

test("a write that PostgreSQL refuses is reported with its reason", async () => {
  expect(await checkAppends(databaseOf(() => ({})))).toMatch(/^a write takes \d+ ms$/);
  const refusing = databaseOf(() => {
    throw new Error("The disk of the database is full.");
  });
  await expect(checkAppends(refusing)).rejects.toMatchObject({
    what: "a write failed: The disk of the database is full",
    next: expect.stringContaining("make space on PostgreSQL's disk"),
  });
});
