import { expect, test } from "vitest";
import { projections } from "#projections/index.ts";
import type { Db } from "#projections/projection.ts";
import { checkFollowers } from "./followers.ts";

/** A database whose read models have versions that differ from this program's by `difference`. */
const databaseWith = (difference: number): Db => {
  const checkpoints = projections.map(({ name, version }) => ({ name, version: version + difference, position: 7 }));
  return {
    query: async <R>(text: string): Promise<R[]> => {
      const rows = text.includes("log.checkpoints") ? checkpoints : text.includes("log.head") ? [{ position: 9 }] : [];
      return rows as R[];
    },
  };
};

test("read models of a newer version, as during an upgrade, are no problem; older ones are", async () => {
  expect(await checkFollowers(databaseWith(0))).toBe("at most 2 events behind");
  expect(await checkFollowers(databaseWith(1))).toBe("at most 2 events behind");
  await expect(checkFollowers(databaseWith(-1))).rejects.toThrow("not built at this version: ");
});
