import fc from "fast-check";
import { expect, test, vi } from "vitest";
import type { BudgetLimits } from "#events/budget.ts";
import { watchBudgets } from "./watch.ts";

const spender = { organization_id: "o", principal: "key:k", project_id: null, agent_id: null, user_mark: null };

/** A log of documents, a read model that follows it on demand, and a watch over a budget. */
function openWatch(limits: BudgetLimits, hard = true) {
  const state = { position: 0, followed: 0, documents: 0 };
  const report = vi.fn(async () => {});
  const query = async (text: string) => {
    if (!text.includes("usage_holdings")) return [{ subject: "organization", limits: JSON.stringify(limits), hard }];
    const rows = [{ ...spender, bytes: 0, documents: state.documents, runs: 0 }];
    return [{ position: state.followed, rows }];
  };
  const watch = watchBudgets({
    db: { query: query as never },
    report,
    onError: (error) => expect(error).toBeUndefined(),
  });
  return {
    watch,
    report,
    commit: () => ++state.position,
    follow() {
      state.documents += state.position - state.followed;
      state.followed = state.position;
    },
    async admit() {
      const answer = await watch.admit(spender, { documents: 1 });
      return "admitted" in answer ? answer.admitted : undefined;
    },
    shown: async () => Number((await watch.statuses("o"))[0]!.limits[0]!.spent),
  };
}

test("a burst gets what there is room for, although the read model follows later", async () => {
  const { admit, commit, follow, shown, report } = openWatch({ documents: 10 });
  const admitted = (await Promise.all(Array.from({ length: 50 }, admit))).filter((one) => one !== undefined);
  expect(admitted).toHaveLength(10);
  for (const one of admitted.slice(1)) one.settle(commit());
  expect(await admit()).toBeUndefined();
  admitted[0]!.withdraw();
  const again = await admit();
  expect(again).toBeDefined();
  again!.settle(commit());
  follow();
  expect([await shown(), await admit()]).toEqual([10, undefined]);
  expect(report.mock.calls.map(([, { percent }]: any) => percent)).toContain(100);
});

test("a soft limit warns and refuses nothing", async () => {
  const { admit, commit } = openWatch({ documents: 1 }, false);
  for (const spent of ["1", "2"]) {
    const one = await admit();
    one!.settle(commit());
    expect(one!.reached()).toMatchObject({ name: "documents", spent, at_most: "1", refuses: false });
  }
});

test("each thing counts once, whenever the read model follows", async () => {
  const step = fc.constantFrom("admit", "commit", "withdraw", "follow", "read");
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const limit = 5;
      const { admit, commit, follow, shown } = openWatch({ documents: limit });
      const open: NonNullable<Awaited<ReturnType<typeof admit>>>[] = [];
      let stored = 0;
      for (const each of steps) {
        if (each === "admit") {
          const one = await admit();
          expect(one !== undefined).toBe(stored + open.length < limit);
          if (one) open.push(one);
        } else if (each === "commit" && open.length > 0) {
          open.shift()!.settle(commit());
          stored += 1;
        } else if (each === "withdraw") open.shift()?.withdraw();
        else if (each === "follow") follow();
        else if (each === "read") expect(await shown()).toBe(stored + open.length);
      }
    }),
    { numRuns: 50 },
  );
});
