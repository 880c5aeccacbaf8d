import fc from "fast-check";
import { expect, test } from "vitest";
import type { Limits } from "#events/budget.ts";
import { createEarlierSums } from "./earlierSums.ts";
import type { SpentRow } from "./query.ts";
import { earlierOf } from "./status.ts";

const DAY = 24 * 3_600_000;
const spender = { principal: "key:k", project_id: null, agent_id: null, user_mark: null };

/** A read model of usage, which counts what is asked of it. */
function openUsage(log: { at: number; tokens: number; model?: string }[]) {
  const asked: string[] = [];
  const query = async (text: string, values: unknown[] = []) => {
    const [, from, to] = values as [string, Date, Date];
    asked.push(`${from.toISOString().slice(0, 10)} ${to.toISOString().slice(0, 10)}`);
    const byModel = text.includes("s.model as model");
    const rows = log
      .filter(({ at }) => at >= from.getTime() && at < to.getTime())
      .map(({ tokens, model }): SpentRow => ({ ...spender, tokens, model: byModel ? JSON.stringify(model) : null }));
    return rows as never[];
  };
  return { asked, earlier: createEarlierSums({ query }) };
}
const budget = (limits: Limits, subject = "organization") => ({
  subject,
  limits,
  hard: true,
  created_at: new Date(0),
  updated_at: new Date(0),
});
const ALL = [budget({ tokens_per_week: 1, tokens_per_month: 1, tokens_total: 1 })];

test("the sums of the week, the month and all time until today have each event that is in them, once", async () => {
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
        const sum = earlierOf(name as keyof typeof begins, sums).get("organization")?.tokens ?? 0n;
        expect(Number(sum), name).toBe(inside.reduce((total, { tokens }) => total + tokens, 0));
      }
    }),
  );
});

test("months that are over are summed once, and the rest once a minute", async () => {
  const { asked, earlier } = openUsage([]);
  const now = Date.UTC(2026, 10, 26, 12);
  for (const ms of [0, 1_000, 59_000]) await earlier.recent("o", now + ms, ALL);
  expect(asked).toEqual(["2026-11-01 2026-11-26", "2026-11-23 2026-11-26", "1970-01-01 2026-11-01"]);
  await earlier.recent("o", now + 61_000, ALL);
  expect(asked.slice(3)).toEqual(["2026-11-01 2026-11-26", "2026-11-23 2026-11-26"]);
  await earlier.recent("o", Date.UTC(2026, 11, 5, 12), ALL);
  expect(asked.at(-1)).toBe("1970-01-01 2026-12-01");
});

test("a budget that is set later is read at once, whatever is kept, and one model is summed where a budget has it", async () => {
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
