import { expect, test } from "vitest";
import { createReconcile } from "./reconcile.ts";

function scale() {
  const holds = { there: 3, shown: 3, sums: 0 };
  const look = createReconcile(
    {
      index: { count: async () => holds.there },
      place: { shown: async () => ((holds.sums += 1), holds.shown) },
    },
    0,
  );
  return { holds, look };
}

test("passages that search may show and the index lacks are missing; more than that may be there", async () => {
  const { holds, look } = scale();
  expect(await look("i", 0, [])).toBeUndefined();
  expect(await look("i", 0, [])).toBeUndefined();
  holds.there = 2;
  expect(await look("i", 0, [])).toEqual({ there: 2, shown: 3 });
  holds.there = 5;
  expect(await look("i", 1, [])).toBeUndefined();
});

test("the sum is not asked for while nothing was led into the same index", async () => {
  const { holds, look } = scale();
  const sums = async (...asked: [string, number]) => {
    await look(...asked, []);
    return holds.sums;
  };
  expect([await sums("i", 4), await sums("i", 4), await sums("i", 5), await sums("j", 5)]).toEqual([1, 1, 2, 3]);
});
