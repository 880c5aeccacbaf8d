import fc from "fast-check";
import { expect, test } from "vitest";
import { BudgetRemoved, BudgetSet, NoteBudgetReached, type BudgetEvent, type BudgetStep } from "#events/budget.ts";
import { newCommand } from "#events/envelope.ts";
import { budget } from "./budget.ts";

const subject = "organization";
const set = BudgetSet.of({ subject, limits: { tokens_per_day: 10 }, hard: true });
const note = (data: BudgetStep) =>
  newCommand(NoteBudgetReached.type, {
    stream: "budget-x",
    organization_id: "o",
    request_id: "r",
    timeout_ms: 1,
    data,
  }) as never;
const fold = (events: BudgetEvent[]) => events.reduce(budget.evolve, budget.initial);

const reached = fc.record({
  subject: fc.constant(subject),
  limit: fc.constantFrom("tokens_per_day" as const, "cost_per_day" as const),
  period: fc.constantFrom("2026-11-22", "2026-11-23", "2026-11-24"),
  percent: fc.constantFrom(80 as const, 100 as const),
  spent: fc.constantFrom("8", "10", "11"),
  at_most: fc.constant("10"),
});

test("however often and in whatever order a limit is reported, each step of each period is an event once at most", () => {
  fc.assert(
    fc.property(fc.array(reached, { maxLength: 40 }), (notes) => {
      const events: BudgetEvent[] = [set];
      for (const each of notes) events.push(...budget.decide(note(each), fold(events)));
      const reported = events.slice(1).map(({ data }: any) => [data.limit, data.period, data.percent].join());
      expect(new Set(reported).size).toBe(reported.length);
      // every report of the newest period is in the log
      const newest = notes.filter(({ period }) => period === "2026-11-24");
      for (const { limit, percent } of newest)
        expect(
          reported.some((each) => each === `${limit},2026-11-24,${percent}` || each === `${limit},2026-11-24,100`),
        ).toBe(true);
    }),
  );
});

test("a limit that was raised is reported again, and nothing is once the budget is removed", () => {
  const data: BudgetStep = {
    subject,
    limit: "cost_per_month",
    period: "2026-11",
    percent: 80,
    spent: "8",
    at_most: "10",
  };
  const events: BudgetEvent[] = [set, ...budget.decide(note(data), fold([set]))];
  expect(events).toHaveLength(2);
  expect(budget.decide(note(data), fold(events))).toEqual([]);
  expect(budget.decide(note({ ...data, at_most: "20", spent: "16" }), fold(events))).toHaveLength(1);
  expect(budget.decide(note(data), fold([...events, BudgetRemoved.of({ subject })]))).toEqual([]);
});

test("a step names the workflow that is set at that moment, and who set it", () => {
  const alert = { workflow_id: "0198c0de-0000-7000-8000-00000000000b", set_by: { type: "person" as const, id: "p" } };
  const step = { subject, limit: "tokens_per_day" as const, period: "2026-11-23", spent: "8", at_most: "10" };
  const withAlert = BudgetSet.of({ ...set.data, alert });
  const report = (events: BudgetEvent[], percent: 80 | 100) => budget.decide(note({ ...step, percent }), fold(events));
  const first = report([set, withAlert], 80);
  expect(first).toMatchObject([{ data: { ...step, percent: 80, alert } }]);
  const [later] = report([set, withAlert, ...first, set], 100);
  expect(later!.data).not.toHaveProperty("alert");
  expect(report([set, withAlert, ...first, set], 80)).toEqual([]);
});

test("a process that still has the limit before reports nothing again, unless that limit is set again", () => {
  const report = (at_most: string) =>
    note({ subject, limit: "tokens_per_month", period: "2026-11", percent: 100, spent: "9", at_most });
  const events: BudgetEvent[] = [set];
  const decide = (at_most: string) => events.push(...budget.decide(report(at_most), fold(events)));
  decide("2");
  events.push(set);
  for (const at_most of ["2", "3", "2", "3"]) decide(at_most);
  expect(events).toHaveLength(4);
  events.push(set);
  for (const at_most of ["2", "3", "2"]) decide(at_most);
  expect(events.slice(5)).toMatchObject([{ type: "BudgetReached", data: { at_most: "2" } }]);
});
