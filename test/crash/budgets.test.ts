import { beforeEach, expect, test } from "vitest";
import { newScenario } from "./scenario.ts";

let scenario: ReturnType<typeof newScenario>;
beforeEach(() => {
  scenario = newScenario();
});
const PERIOD = { subject: "agent:a", limit: "tokens_per_month", period: "2026-11", at_most: "9" };
const reach = (percent: number) => scenario.event("BudgetReached", "budget-b", "budget", { ...PERIOD, percent });
const read = (limits: object[]) =>
  scenario.operation("audit.budget", "9", { asked: { organization_id: "o" }, got: { limits } });
const findings = () => scenario.findings().filter((finding) => finding.endsWith("I20"));

test("a step that is reported once after each change of the limit is no finding, but a step that is reported twice is", () => {
  reach(80);
  reach(100);
  scenario.event("BudgetSet", "budget-b", "1", { subject: "agent:a" });
  reach(80);
  expect(findings()).toEqual([]);
  reach(80);
  expect(findings()).toEqual(["doubled I20"]);
});

test("figures that differ from the sums over the log, and reservations of ended turns, are findings", () => {
  const usage = { prompt_tokens: 3, completion_tokens: 4, cost: "0.5" };
  const start = (turn_id: string) =>
    scenario.event(
      "TurnStarted",
      `thread-${turn_id}`,
      turn_id,
      { turn_id, reserved: "2", model: turn_id },
      { input: {} },
    );
  start("u");
  scenario.event("TurnCompleted", "thread-u", "u", { turn_id: "u", usage }, { said: { text: "u" } });
  start("open");
  start("waiting");
  scenario.event("TurnParked", "thread-waiting", "waiting", { turn_id: "waiting", attempt: 1 });
  scenario.event("ExtractionCompleted", "extraction-e", "e", { units: 2, cost: "0.003" });
  read([
    { name: "cost_per_month", spent: "0.503", reserved: "2" },
    { name: "tokens_per_month", spent: "7" },
    { name: "pages_per_month", spent: "2" },
  ]);
  expect(findings()).toEqual([]);
  // a round of the open turn has made its hold grow
  read([{ name: "cost_per_month", spent: "0.503", reserved: "2.02" }]);
  expect(findings()).toEqual([]);
  read([
    { name: "cost_per_month", spent: "0.5", reserved: "4" },
    { name: "cost_per_month", spent: "0.503", reserved: "1.98" },
    { name: "tokens_per_month", spent: "14" },
    { name: "pages_per_month", spent: "4" },
  ]);
  expect(findings()).toEqual(Array(5).fill("different I20"));
});

test("figures of one model are the sums over the turns that name it", () => {
  const usage = { prompt_tokens: 3, completion_tokens: 4, cost: "0.5" };
  for (const turn_id of ["u", "other", "parked"]) {
    const started = { turn_id, reserved: "2", model: turn_id };
    scenario.event("TurnStarted", `thread-${turn_id}`, turn_id, started, { input: {} });
    const said = { said: { text: turn_id } };
    if (turn_id !== "parked") scenario.event("TurnCompleted", `thread-${turn_id}`, turn_id, { turn_id, usage }, said);
  }
  scenario.event("ExtractionCompleted", "extraction-e", "e", { units: 2, cost: "0.003" });
  read([
    { name: "cost_total", model: "u", spent: "0.5", reserved: "0" },
    { name: "tokens_total", model: "u", spent: "7" },
    { name: "requests_per_month", model: "u", spent: "1" },
    { name: "requests_per_month", model: null, spent: "2" },
    { name: "cost_per_week", model: "parked", spent: "0", reserved: "2" },
  ]);
  expect(findings()).toEqual([]);
  read([
    { name: "cost_total", model: "u", spent: "1.003", reserved: "2" },
    { name: "requests_per_month", model: "u", spent: "2" },
  ]);
  expect(findings()).toEqual(["different I20", "different I20", "different I20"]);
});
