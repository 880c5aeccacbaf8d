import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { BudgetLimits } from "#events/budget.ts";
import type { NewEvent } from "#events/define.ts";
import { NO_USAGE, RoundRequested, TurnCompleted, TurnRefused } from "#events/thread.ts";
import { countRounds } from "#test/countRounds.ts";
import { projectEvents } from "#test/projections/projectEvents.ts";
import { usage } from "../usage/project.ts";
import type { SpentRow } from "./query.ts";
import { budgetStatuses, reachedLimits, sharedStatuses, splitFor } from "./status.ts";
import type { Sums } from "./limits.ts";
import { addSums, sumInSlices } from "./sums.ts";

const NONE: Sums = new Map();
const NOW = new Date("2026-12-31T23:59:59.999Z");
const budget = (subject: string, limits: BudgetLimits, hard = true) => ({
  subject,
  limits,
  hard,
  created_at: NOW,
  updated_at: NOW,
});
const spent = (tokens: number, cost: string | null, more: Partial<SpentRow> = {}): SpentRow => ({
  principal: "key:k",
  project_id: null,
  agent_id: null,
  user_mark: null,
  tokens,
  cost,
  ...more,
});

describe("what a budget leaves", () => {
  test("is counted by the day and the month of UTC, which end at midnight", async () => {
    const limits = { tokens_per_day: 10, tokens_per_month: 100, cost_per_day: "1", cost_per_month: "0.5" };
    const figures = {
      before: await sumInSlices([spent(20, "0.1")]),
      today: await sumInSlices([spent(9, null), spent(0, "0.3")]),
    };
    const ends_at = new Date("2027-01-01T00:00:00.000Z");
    expect((await budgetStatuses([budget("organization", limits)], figures, NOW))[0]!.limits).toEqual([
      { name: "tokens_per_day", at_most: "10", spent: "9", percent: 90, period: "2026-12-31", ends_at },
      { name: "tokens_per_month", at_most: "100", spent: "29", percent: 29, period: "2026-12", ends_at },
      { name: "cost_per_day", at_most: "1", spent: "0.3", percent: 30, period: "2026-12-31", ends_at },
      { name: "cost_per_month", at_most: "0.5", spent: "0.4", percent: 80, period: "2026-12", ends_at },
    ]);
  });

  test("is reported from 80 percent on, and at 100", async () => {
    const reported = async (tokens: number, tokens_per_day = 100) => {
      const figures = { before: NONE, today: await sumInSlices([spent(tokens, null)]) };
      const statuses = sharedStatuses([budget("organization", { tokens_per_day })], figures, NOW);
      return reachedLimits(statuses).map(({ percent }) => percent);
    };
    const all = await Promise.all([79, 80, 99, 100, 500].map((tokens) => reported(tokens)));
    expect(all).toEqual([[], [80], [80], [100], [100]]);
    expect(await reported(0, 0)).toEqual([100]);
  });

  test("of each-user is shown of the user who has used most, separately for each limit", async () => {
    const rows = [
      spent(811, "0.2", { user_mark: "a" }),
      spent(819, "0.1", { user_mark: "b" }),
      spent(900, "0.9"),
      spent(1, null, { user_mark: "c" }),
    ];
    const figures = {
      before: NONE,
      today: await sumInSlices(rows),
      pending: {
        of: (subject: string) => ({ ended: subject === "user:c" ? 500_000_000_000n : 0n, reserved: 7n }),
        subjects: () => [],
      },
    };
    const limits = { tokens_per_day: 1_000, cost_per_day: "1" };
    const budgets = [budget("each-user", limits)];
    const shown = async (of: typeof figures) => (await budgetStatuses(budgets, of, NOW))[0]!.limits;
    expect(await shown(figures)).toMatchObject([
      { name: "tokens_per_day", spent: "819", percent: 81 },
      { name: "cost_per_day", spent: "0.5", reserved: "0.000000000007", percent: 50 },
    ]);
    expect(await shown({ ...figures, today: NONE })).toMatchObject([
      { name: "tokens_per_day", spent: "0", percent: 0 },
      { name: "cost_per_day", spent: "0" },
    ]);
  });

  test("of each-user is also shown of a user whose first turn has only reserved money", async () => {
    const reserved = new Map([
      ["user:a", 3_000_000_000_000n],
      ["user:b", 4_000_000_000_000n],
    ]);
    const pending = {
      of: (subject: string) => ({ ended: 0n, reserved: reserved.get(subject) ?? 0n }),
      subjects: () => reserved.keys(),
    };
    const budgets = [budget("each-user", { cost_per_day: "10" })];
    const shown = async (today: typeof NONE) =>
      (await budgetStatuses(budgets, { before: NONE, today, pending }, NOW))[0]!.limits;
    expect(await shown(NONE)).toMatchObject([{ spent: "0", reserved: "4" }]);
    const today = await sumInSlices([spent(1, "0.1", { user_mark: "a" })]);
    expect(await shown(today)).toMatchObject([{ spent: "0.1", reserved: "3" }]);
  });

  test("counts what its subject spent alone", async () => {
    const rows = [
      spent(1, null),
      spent(10, null, { principal: "person:p" }),
      spent(100, null, { principal: "key:other", project_id: "x" }),
      spent(1000, null, { principal: "system", agent_id: "a", project_id: "x" }),
    ];
    const figures = { before: NONE, today: await sumInSlices(rows) };
    const of = (subject: string) =>
      sharedStatuses([budget(subject, { tokens_per_day: 1 })], figures, NOW)[0]!.limits[0]!.spent;
    const subjects = ["organization", "key:k", "person:p", "project:x", "agent:a", "agent:b", "project:null"];
    expect(subjects.map(of)).toEqual(["1111", "1", "10", "1100", "1000", "0", "0"]);
  });
});

test("sums are split by user or model only if a budget is of users or of a model", () => {
  const split = (...subjects: string[]) => splitFor(subjects.map((subject) => budget(subject, { tokens_per_day: 1 })));
  expect(split("organization", "key:k", "agent:a")).toEqual({ byModel: false, byUser: false });
  expect(split("organization", "each-user")).toEqual({ byModel: false, byUser: true });
  expect(split("key:k@openai/gpt-5")).toEqual({ byModel: true, byUser: false });
  expect(split("user:mark@openai/gpt-5")).toEqual({ byModel: true, byUser: true });
});

const manyUsers = () =>
  Array.from({ length: 50_000 }, (_, n) => spent(n, "0.5", { user_mark: `u${n % 30_000}`, model: `m/${n % 3}` }));

test("the event loop goes round while the sums of many users are made and added", async () => {
  const rows = manyUsers();
  const summing = sumInSlices(rows);
  expect(await countRounds(summing)).toBeGreaterThan(3);
  const sums = await summing;
  expect(sums.get("organization")).toMatchObject({ tokens: 1_249_975_000n, cost: 25_000n * 10n ** 12n });
  expect(sums.get("user:u7")).toMatchObject({ tokens: 7n + 30_007n, cost: 10n ** 12n });
  const adding = addSums(sums, sums);
  expect(await countRounds(adding)).toBeGreaterThan(3);
  const added = await adding;
  expect(added).toEqual(await sumInSlices([...rows, ...rows]));
  expect(await addSums(added, sums, -1n)).toEqual(sums);
});

test("the event loop goes round while each model's user with the highest use is found", async () => {
  const figures = { before: NONE, today: await sumInSlices(manyUsers()) };
  const budgets = ["each-user", "each-user@m/0", "each-user@m/1", "each-user@none", "organization"].map((subject) =>
    budget(subject, { tokens_per_day: 100_000, requests_per_day: 1, cost_per_day: "1" }),
  );
  const comparing = budgetStatuses(budgets, figures, NOW);
  expect(await countRounds(comparing)).toBeGreaterThan(3);
  expect((await comparing).map(({ limits }) => limits.find(({ name }) => name === "tokens_per_day")!.spent)).toEqual([
    String(49_999 + 19_999),
    String(49_998 + 19_998),
    String(49_999 + 19_999),
    "0",
    String((50_000 * 49_999) / 2),
  ]);
});

interface Turn {
  rounds: number[];
  /** Tokens of the whole turn; undefined: refused. */
  end: number | undefined;
}
const turn: fc.Arbitrary<Turn> = fc.record({
  rounds: fc.array(fc.integer({ min: 1, max: 1_000 }), { maxLength: 4 }),
  end: fc.option(fc.integer({ min: 0, max: 5_000 }), { nil: undefined }),
});
const usageOf = (prompt_tokens: number) => ({
  ...NO_USAGE,
  prompt_tokens,
  cost: `0.${String(prompt_tokens).padStart(6, "0")}`,
});

function eventsOf({ rounds, end }: Turn, turn_id: string): NewEvent[] {
  const attempt = { turn_id, attempt: 1 };
  const said = { text: "", reasoning: "", citations: [] };
  const asked = rounds.map((tokens, round) =>
    RoundRequested.of({ ...attempt, round, usage: usageOf(tokens) }, { ...said, calls: [] }),
  );
  if (end === undefined) return [TurnRefused.of({ ...attempt, code: null })];
  return [...asked, TurnCompleted.of({ ...attempt, finish_reason: "stop", model: "m", usage: usageOf(end) }, { said })];
}

/** Applies changes of the table `usage` to its rows. */
function apply(rows: Map<string, { prompt_tokens: number; cost: string | null }>, events: NewEvent[], stream: string) {
  for (const change of projectEvents(usage, stream, ...events) as any[]) {
    if (change.table !== "usage") continue;
    const of = (key: { source_id: string; part: number }) => `${key.source_id}/${key.part}`;
    if (change.kind === "put") rows.set(of(change.key), change.row);
    else for (const name of rows.keys()) if (name.startsWith(`${change.where.source_id}/`)) rows.delete(name);
  }
}

test("the figures neither lose nor double a turn, however often and in whatever order streams are delivered", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(turn, { maxLength: 6 }),
      fc.array(fc.tuple(fc.nat(5), fc.nat(5), fc.nat(5)), { maxLength: 30 }),
      async (turns, deliveries) => {
        const rows = new Map();
        const streams = turns.map((each, n) => eventsOf(each, `0198c0de-0000-7000-8000-00000000000${n}`));
        // parts of streams, again from any event on, as a process that was killed gets them
        for (const [n, from, to] of deliveries) apply(rows, (streams[n] ?? []).slice(from, to), `thread-${n}`);
        for (const [n, events] of [...streams.entries()].toReversed()) apply(rows, events, `thread-${n}`);
        const figures = [...rows.values()].map(({ prompt_tokens, cost }) => spent(prompt_tokens, cost));
        const limits = { tokens_per_day: 1, cost_per_day: "1" };
        const [tokens, cost] = sharedStatuses(
          [budget("organization", limits)],
          { before: NONE, today: await sumInSlices(figures) },
          NOW,
        )[0]!.limits;
        const whole = turns.reduce((sum, { end = 0 }) => sum + end, 0);
        expect(tokens!.spent).toBe(String(whole));
        expect(Math.round(Number(cost!.spent) * 1e6)).toBe(whole);
      },
    ),
  );
});
