import fc from "fast-check";
import { expect, test, vi } from "vitest";
import type { BudgetLimits } from "#events/budget.ts";
import { createEarlierSums } from "./earlierSums.ts";
import type { BudgetRow, SpentRow } from "./query.ts";
import { earlierSumsFor } from "./status.ts";

const DAY = 24 * 3_600_000;
const spender = { principal: "key:k", project_id: null, agent_id: null, user_mark: null };

interface LogEntry {
  at: number;
  tokens: number;
  model?: string;
  /** A round of this turn. Its rows are removed when the turn ends. */
  round_of?: string;
  /** The end of this turn. */
  ends?: string;
}

/** A fake read model of usage that contains the followed part of a log, and records its queries in `asked`. */
function openUsage(log: LogEntry[], onQuery = () => {}) {
  const asked: string[] = [];
  const state = { followed: Number.POSITIVE_INFINITY };
  const rowsNow = () => {
    const followed = log.slice(0, state.followed);
    const ended = new Set(followed.map(({ ends }) => ends));
    return followed.filter(({ round_of }) => round_of === undefined || !ended.has(round_of));
  };
  const query = async (text: string, values: unknown[] = []) => {
    const [, from, to, among] = values as [string, Date, Date, string[] | undefined];
    const what = text.includes("as turn_id") ? "rounds" : text.includes("and not (u.part >= 0") ? "finals" : "all";
    const which = among ? `${what} of ${among.join()}` : what;
    onQuery();
    asked.push(`${from.toISOString().slice(0, 10)} ${to.toISOString().slice(0, 10)} ${which}`);
    const byModel = text.includes("s.model as model");
    const rows = rowsNow()
      .filter(({ at }) => at >= from.getTime() && at < to.getTime())
      .filter(({ round_of }) => what === "all" || (round_of !== undefined) === (what === "rounds"))
      .filter(({ round_of }) => !among || among.includes(round_of!))
      .map(({ tokens, model, round_of }): SpentRow & { turn_id?: string | undefined } => ({
        ...spender,
        tokens,
        model: byModel ? JSON.stringify(model) : null,
        turn_id: round_of,
      }));
    return rows as never[];
  };
  const { recent, forget } = createEarlierSums({ query });
  const earlier = {
    recent: (organization: string, at: number, budgets: BudgetRow[], followed_until = at) =>
      recent(organization, { at, followed_until }, budgets),
    forget,
  };
  return { asked, state, earlier, sumNow: (to: number) => sumOf(rowsNow().filter(({ at }) => at < to)) };
}
const sumOf = (log: LogEntry[]): bigint => BigInt(log.reduce((sum, { tokens }) => sum + tokens, 0));
const budget = (limits: BudgetLimits, subject = "organization") => ({
  subject,
  limits,
  hard: true,
  created_at: new Date(0),
  updated_at: new Date(0),
});
const ALL = [budget({ tokens_per_week: 1, tokens_per_month: 1, tokens_total: 1 })];

test("the sums of the week, the month and all time until today count each of their events once", async () => {
  const noon = fc.integer({ min: 0, max: 800 }).map((day) => Date.UTC(2025, 0, 1, 12) + day * DAY);
  const event = fc.record({ ago: fc.integer({ min: 0, max: 90 * DAY }), tokens: fc.integer({ min: 1, max: 1_000 }) });
  await fc.assert(
    fc.asyncProperty(noon, fc.array(event, { maxLength: 30 }), async (now, events) => {
      const log = events.map(({ ago, tokens }) => ({ at: now - ago, tokens }));
      const sums = await openUsage(log).earlier.recent("o", now, ALL);
      const today = now - (now % DAY);
      const [year, month] = [new Date(now).getUTCFullYear(), new Date(now).getUTCMonth()];
      const begins = {
        tokens_per_week: today - ((new Date(now).getUTCDay() + 6) % 7) * DAY,
        tokens_per_month: Date.UTC(year, month),
        tokens_total: 0,
        tokens_per_day: today,
      };
      for (const [name, begin] of Object.entries(begins)) {
        const inside = log.filter(({ at }) => at >= begin && at < today);
        const sum = earlierSumsFor(name as keyof typeof begins, sums).get("organization")?.tokens ?? 0n;
        expect(Number(sum), name).toBe(inside.reduce((total, { tokens }) => total + tokens, 0));
      }
    }),
  );
});

test("months that are over are summed once, and the rest once a minute", async () => {
  const { asked, earlier } = openUsage([]);
  const now = Date.UTC(2026, 10, 26, 12);
  for (const ms of [0, 1_000, 59_000]) await earlier.recent("o", now + ms, ALL);
  const recently = ["2026-11-01 2026-11-26 all", "2026-11-23 2026-11-26 all"];
  expect(asked).toEqual([...recently, "1970-01-01 2026-11-01 rounds", "1970-01-01 2026-11-01 finals"]);
  await earlier.recent("o", now + 61_000, ALL);
  expect(asked.slice(4)).toEqual(recently);
  await earlier.recent("o", Date.UTC(2026, 11, 5, 12), ALL);
  expect(asked.at(-1)).toBe("1970-01-01 2026-12-01 finals");
});

test("sums that take long are kept for longer than a minute, once the read model has all of yesterday", async () => {
  let ms = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => ms);
  try {
    const { asked, earlier } = openUsage([], () => (ms += 3_000));
    const budgets = [budget({ tokens_per_month: 1 })];
    const noon = Date.UTC(2026, 10, 26, 12);
    for (const later of [0, 299_000]) await earlier.recent("o", noon + later, budgets);
    expect(asked.length).toBe(1);
    await earlier.recent("o", noon + 301_000, budgets);
    expect(asked.length).toBe(2);
    const nextDay = Date.UTC(2026, 10, 27, 0, 2);
    await earlier.recent("o", nextDay, budgets, nextDay - 150_000);
    await earlier.recent("o", nextDay + 61_000, budgets);
    expect(asked.length).toBe(4);
  } finally {
    clock.mockRestore();
  }
});

test("rounds before the month's begin count until their turn ends, and only they are read again", async () => {
  const month = Date.UTC(2026, 11, 1);
  const log: LogEntry[] = [
    { at: month - 2 * DAY, tokens: 1 },
    { at: month - 1_000, tokens: 2, round_of: "t" },
  ];
  const { asked, earlier } = openUsage(log);
  const everAt = async (ms: number) =>
    (await earlier.recent("o", month + ms, ALL)).ever?.get("organization")?.tokens ?? 0n;
  expect(await everAt(120_000)).toBe(3n);
  log.push({ at: month + 150_000, tokens: 3, ends: "t" });
  expect(await everAt(240_000)).toBe(1n);
  expect(asked.slice(-1)).toEqual(["1970-01-01 2026-12-01 rounds of t"]);
  const before = asked.length;
  expect([await everAt(360_000), asked.length]).toEqual([1n, before + 1]);
});

test("months that are over are kept only once the read model has all of them, until they are forgotten", async () => {
  const month = Date.UTC(2026, 11, 1);
  const log = [1, 2].map((tokens) => ({ at: month - 10 * tokens, tokens })).toReversed();
  const { asked, state, earlier } = openUsage(log);
  state.followed = 1;
  const read = async (ms: number, followed_until: number) =>
    (await earlier.recent("o", month + ms, ALL, followed_until)).ever?.get("organization")?.tokens ?? 0n;
  expect(await read(70_000, log[0]!.at)).toBe(2n);
  state.followed = 2;
  expect(await read(140_000, month + 140_000)).toBe(3n);
  const whole = "1970-01-01 2026-12-01 finals";
  expect(await read(210_000, month + 210_000)).toBe(3n);
  expect(asked.filter((one) => one === whole).length).toBe(2);
  earlier.forget("o");
  await read(211_000, month + 211_000);
  expect(asked.filter((one) => one === whole).length).toBe(3);
});

test("the sum of all time is that of the read model, however late it follows and whenever turns end", async () => {
  const month = Date.UTC(2026, 11, 1);
  const step = fc.record({
    ms: fc.integer({ min: 1_000, max: 200_000 }),
    tokens: fc.integer({ min: 1, max: 1_000 }),
    turn: fc.constantFrom("a", "b", "c"),
    kind: fc.constantFrom("round" as const, "end" as const),
    behind: fc.nat(4),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const log: LogEntry[] = [];
      const { state, earlier, sumNow } = openUsage(log);
      const turns = new Map<string, number>();
      state.followed = 0;
      let now = month - 1_500_000;
      for (const { ms, tokens, turn, kind, behind } of steps) {
        now += ms;
        const n = turns.get(turn) ?? 0;
        if (kind === "end") turns.set(turn, n + 1);
        log.push({ at: now, tokens, [kind === "end" ? "ends" : "round_of"]: `${turn}${n}` });
        state.followed = Math.max(state.followed, log.length - behind);
        const followed_until = state.followed === log.length ? now : (log[state.followed - 1]?.at ?? 0);
        // later than the minute for which sums are cached
        now += 60_001;
        const { ever } = await earlier.recent("o", now, ALL, followed_until);
        expect(ever?.get("organization")?.tokens ?? 0n).toBe(sumNow(now - (now % DAY)));
      }
    }),
  );
});

test("a budget that is set later is read at once in spite of the cache, and models are summed if a budget names one", async () => {
  const at = Date.UTC(2026, 10, 24, 12);
  const { asked, earlier } = openUsage([{ at: at, tokens: 5, model: "p/m" }]);
  const now = Date.UTC(2026, 10, 26, 12);
  const first = await earlier.recent("o", now, [budget({ tokens_per_month: 1 })]);
  expect([first.week, first.ever, asked.length]).toEqual([undefined, undefined, 1]);
  expect([...first.before.keys()]).toEqual(["organization", "key:k"]);
  const later = [...ALL, budget({ tokens_per_week: 1 }, "key:k@p/m")];
  const { week, before } = await earlier.recent("o", now + 1_000, later);
  expect(week?.get("key:k@p/m")?.tokens).toBe(5n);
  expect(before.get("organization@p/m")?.tokens).toBe(5n);
  expect(before.get("organization")?.tokens).toBe(5n);
});
