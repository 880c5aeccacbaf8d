import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import type { BudgetLimits, BudgetStep } from "#events/budget.ts";
import { watchBudgets } from "./watch.ts";

const spender = { organization_id: "o", principal: "key:k", project_id: null, agent_id: null, user_mark: null };

/** A database with one budget of ten tokens a day, or with none, that counts its queries. */
function openWatch(budgets = 1) {
  const limits: BudgetLimits = { tokens_per_day: 10 };
  const state = {
    budgets,
    limits,
    set_at: new Date(0),
    tokens: 0,
    queries: 0,
    isAway: false,
    hangs: false,
    version: "1",
  };
  const told: BudgetStep[] = [];
  const rows = (text: string): unknown[] => {
    const spent = [{ ...spender, tokens: state.tokens, cost: null }];
    if (text.includes("usage_reservations"))
      return [
        {
          position: 1,
          split: null,
          is_complete: true,
          early: [],
          late: spent,
          open: [],
          settled: [],
          rounds: [],
          without_rounds: [],
        },
      ];
    if (!text.includes("read.budgets")) return spent;
    const stored = JSON.stringify(state.limits);
    const budget = { subject: "organization", limits: stored, hard: true, updated_at: state.set_at };
    return state.budgets > 0 ? [budget] : [];
  };
  const query = async (text: string) => {
    if (text.includes("as version")) return [{ version: state.version }] as never[];
    state.queries++;
    if (state.isAway) throw new Error("away");
    if (state.hangs) await new Promise(() => {});
    return rows(text) as never[];
  };
  const report = vi.fn(async (_: string, reached: BudgetStep) => told.push(reached));
  const onError = vi.fn();
  return { state, told, report, onError, watch: watchBudgets({ db: { query }, report, onError }) };
}

test("turns of one moment share their figures", async () => {
  const { watch, state } = openWatch();
  await Promise.all(Array.from({ length: 50 }, () => watch.check(spender)));
  const { queries } = state;
  await watch.check(spender);
  expect([queries <= 3, state.queries]).toEqual([true, queries]);
});

test("an organization without budgets waits for no query after its first turn, even while the database is away", async () => {
  const { watch, state, onError } = openWatch(0);
  expect(await watch.check(spender)).toBeUndefined();
  expect(state.queries).toBe(1);
  state.isAway = true;
  vi.useFakeTimers({ now: Date.now() + 5_000, toFake: ["Date"] });
  try {
    expect(await watch.check(spender)).toBeUndefined();
    await vi.waitFor(() => expect(onError).toHaveBeenCalledOnce());
  } finally {
    vi.useRealTimers();
  }
});

test("an organization without budgets is read again only once somebody has set one", async () => {
  const { watch, state } = openWatch(0);
  await watch.check(spender);
  await sleep(0);
  vi.useFakeTimers({ now: Date.now() + 5_000, toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  // the version was unknown when it was read first
  await watch.check(spender);
  await sleep(0);
  vi.setSystemTime(Date.now() + 5_000);
  await watch.check(spender);
  expect(state.queries).toBe(2);
  Object.assign(state, { version: "2", budgets: 1, tokens: 10 });
  await sleep(600);
  await watch.check(spender);
  await sleep(0);
  await watch.check(spender);
  await vi.waitFor(async () => expect(await watch.check(spender)).toMatchObject({ refuses: true }));
});

test("an organization that is far from its limits waits for no query, even while they are not answered", async () => {
  const { watch, state } = openWatch();
  await watch.check(spender);
  state.tokens = 10;
  state.hangs = true;
  vi.useFakeTimers({ now: Date.now() + 5_000, toFake: ["Date"] });
  try {
    expect(await watch.check(spender)).toBeUndefined();
  } finally {
    vi.useRealTimers();
  }
});

test("what the last turn spent is reported, though no other turn follows", async () => {
  const { watch, state, told } = openWatch();
  await watch.check(spender);
  const { queries } = state;
  state.tokens = 8;
  for (const _ of [1, 2, 3]) watch.noteEnd("o");
  await vi.waitFor(() => expect(told).toMatchObject([{ limit: "tokens_per_day", percent: 80 }]), { timeout: 5_000 });
  expect(state.queries - queries).toBeLessThanOrEqual(3);
});

test("a used-up budget refuses and is reported once; a report that failed is made again", async () => {
  const { watch, state, told, report, onError } = openWatch();
  state.tokens = 8;
  report.mockRejectedValueOnce(new Error("no bus"));
  await watch.statuses("o");
  expect(await watch.check(spender)).toMatchObject({ subject: "organization", percent: 80, refuses: false });
  await vi.waitFor(() => expect(onError).toHaveBeenCalledOnce());
  state.tokens = 10;
  for (const _ of [1, 2, 3]) await watch.statuses("o");
  expect(await watch.check(spender)).toMatchObject({ spent: "10", percent: 100, refuses: true });
  expect(told.map(({ percent }) => percent)).toEqual([100]);
});

test("a check with several used-up limits names the one that refuses longest", async () => {
  const { watch, state } = openWatch();
  state.tokens = 30;
  const nameWith = async (limits: BudgetLimits) => {
    state.limits = { tokens_per_day: 1, ...limits };
    await watch.statuses("o");
    return (await watch.check(spender))?.name;
  };
  // on the last day of a month, both begin again at the same moment
  vi.useFakeTimers({ now: Date.UTC(2026, 10, 25, 12), toFake: ["Date"] });
  try {
    expect(await nameWith({ tokens_per_month: 20 })).toBe("tokens_per_month");
    expect(await nameWith({ tokens_per_month: 20, tokens_total: 20 })).toBe("tokens_total");
  } finally {
    vi.useRealTimers();
  }
});

test("a budget that was removed and set again is reported again", async () => {
  const { watch, state, told } = openWatch();
  state.tokens = 8;
  for (const _ of [1, 2]) await watch.statuses("o");
  expect(told).toHaveLength(1);
  state.budgets = 0;
  await watch.statuses("o");
  [state.budgets, state.set_at] = [1, new Date(1)];
  for (const _ of [1, 2]) await watch.statuses("o");
  expect(told).toHaveLength(2);
});

test.each(["isAway", "hangs"] as const)(
  "while the database %s, the last known figures decide until their period is over",
  async (how) => {
    const { watch, state, onError } = openWatch();
    state.tokens = 10;
    await watch.statuses("o");
    state[how] = true;
    vi.useFakeTimers({ now: Date.now() + 1_000, toFake: ["Date"] });
    try {
      expect(await watch.check(spender)).toMatchObject({ refuses: true });
      vi.setSystemTime(Date.now() + 24 * 3600 * 1_000);
      expect(await watch.check(spender)).toBeUndefined();
      expect(onError.mock.calls.length).toBe(how === "isAway" ? 2 : 0);
    } finally {
      vi.useRealTimers();
    }
  },
);

test("an organization whose budgets were never read is not refused while the database is away", async () => {
  const { watch, state, onError } = openWatch();
  state.isAway = true;
  expect(await Promise.all([watch.check(spender), watch.check(spender)])).toEqual([undefined, undefined]);
  expect(onError).toHaveBeenCalledOnce();
});

const amount = fc.integer({ min: 0, max: 100 });
const arbitraryBudget = fc.record({
  subject: fc.constantFrom("organization", "each-user", "key:k", "key:other", "user:a"),
  limits: fc.record(
    { tokens_per_day: amount, requests_per_day: amount, cost_per_day: amount.map(String) },
    { requiredKeys: [] },
  ),
  hard: fc.boolean(),
});
const arbitraryOwner = fc.record({
  principal: fc.constantFrom("key:k", "key:other"),
  user_mark: fc.constantFrom(null, "a", "b"),
});

test("a check finds a limit exactly if 80 % of one is used, whether the organization is far from its limits or not", async () => {
  const rest = { project_id: null, agent_id: null };
  const property = fc.asyncProperty(
    fc.uniqueArray(arbitraryBudget, { selector: ({ subject }) => subject, maxLength: 4 }),
    fc.array(fc.tuple(arbitraryOwner, amount, amount), { maxLength: 3 }),
    arbitraryOwner,
    async (budgets, spent, owner) => {
      const late = spent.map(([by, tokens, turns]) => ({ ...by, ...rest, tokens, turns, cost: String(turns) }));
      const empty = { early: [], open: [], settled: [], rounds: [], without_rounds: [] };
      const day = { position: 1, split: null, is_complete: true, late, ...empty };
      const rows = budgets.map((budget) => ({ ...budget, limits: JSON.stringify(budget.limits) }));
      const query = async (text: string) =>
        (text.includes("usage_reservations") ? [day] : text.includes("read.budgets") ? rows : []) as never[];
      const onError = (error: unknown) => expect(error).toBeUndefined();
      const watch = watchBudgets({ db: { query }, report: async () => {}, onError });
      const by = { organization_id: "o", ...rest, ...owner };
      const reached = await watch.check(by);
      const used = (await watch.statusesFor(by)).flatMap(({ limits }) => limits.map(({ percent }) => percent));
      expect(reached !== undefined).toBe(used.some((percent) => percent >= 80));
    },
  );
  await fc.assert(property);
});
