import { expect, test } from "vitest";
import { createReconcile } from "./reconcile.ts";

function scale() {
  const holds = { there: 3, shown: 3, sums: 0 };
  const reconcile = createReconcile(
    {
      index: { count: async () => holds.there },
      place: { shown: async () => ((holds.sums += 1), holds.shown) },
    },
    0,
  );
  /** The index was led up to 4, and the read model too. */
  const look = (more: Partial<Parameters<typeof reconcile>[0]> = {}) =>
    reconcile({ serving: "i", led: 4, shown: 4, except: [], ...more });
  return { holds, look };
}

test("passages that search may show and the index lacks are missing; more than that may be there", async () => {
  const { holds, look } = scale();
  expect(await look()).toBeUndefined();
  expect(await look()).toBeUndefined();
  holds.there = 2;
  expect(await look()).toEqual({ there: 2, shown: 3 });
  holds.there = 5;
  expect(await look({ led: 5, shown: 5 })).toBeUndefined();
});

test("the sum is not asked for while the same index was led no further", async () => {
  const { holds, look } = scale();
  const sums = async (...asked: Parameters<typeof look>) => {
    await look(...asked);
    return holds.sums;
  };
  const further = { led: 5, shown: 5 };
  expect([await sums(), await sums(), await sums({ shown: 9 }), await sums(further)]).toEqual([1, 1, 1, 2]);
  expect([await sums({ ...further, except: ["d"] }), await sums({ ...further, serving: "j" })]).toEqual([3, 4]);
});

test("a sum of a read model that is behind, or is not there, says nothing of what search will show", async () => {
  const behind = scale();
  Object.assign(behind.holds, { there: 2, shown: 2 });
  expect(await behind.look({ shown: 3 })).toBeUndefined();
  behind.holds.shown = 3;
  expect(await behind.look()).toEqual({ there: 2, shown: 3 });

  const absent = scale();
  Object.assign(absent.holds, { there: 2, shown: 0 });
  expect(await absent.look()).toBeUndefined();
  absent.holds.shown = 3;
  expect(await absent.look()).toEqual({ there: 2, shown: 3 });
});

test("what was left out counts again once it is not", async () => {
  const { holds, look } = scale();
  Object.assign(holds, { there: 2, shown: 2 });
  expect(await look({ except: ["d"] })).toBeUndefined();
  holds.shown = 3;
  expect(await look()).toEqual({ there: 2, shown: 3 });
});
