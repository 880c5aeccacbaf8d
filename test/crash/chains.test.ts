import { beforeEach, expect, test } from "vitest";
import { newScenario } from "./scenario.ts";

let scenario: ReturnType<typeof newScenario>;
beforeEach(() => (scenario = newScenario()));

const LIMITS = { limits: { max_steps: 10 }, expires_at: "2126-01-01T00:00:00Z", slot: null };
const FORGET = { forget_at: "2126-01-01T00:00:00Z" };
const json = (value: unknown) => ({ json: JSON.stringify(value) });

function created(run: string, args: object, more: object, by: string) {
  const personal = { args: json(args), external_user_id: null };
  scenario.event("RunCreated", `run-${run}`, by, { run_id: run, ...LIMITS, ...more }, personal);
}

/** A run that is continued twice; `names`: the run ids of its followers in the log. */
function chain({ second = "b", nth = 2, path = ["a", "b"], goesOn = true }: Record<string, any> = {}) {
  const args = { id: "x", client: 0 };
  scenario.operation(
    "run.start",
    "1",
    {
      asked: { kind: "chained", args: { ...args, left: 1 }, key: "1", external_user_id: null },
      got: { run_id: "a", accepted: true },
    },
    [202],
  );
  created("a", { ...args, left: 1 }, {}, "1");
  const next = { ...args, left: 0, path: ["a"] };
  const end = { run_id: "a", ...FORGET, continued_as: "b", first_run_id: "a" };
  scenario.event("RunContinued", "run-a", "worker", end, { args: json(next) });
  if (goesOn) {
    created(second, next, { continued_from: { run_id: "a", first_run_id: "a", nth } }, "worker 2");
    const result = json({ id: "x", path });
    scenario.event("RunCompleted", `run-${second}`, "worker 3", { run_id: second, ...FORGET }, { result });
  }
  scenario.event("RunSettled", "run-a", "worker 4", { run_id: "a" });
}

test("a complete chain of continued runs is no finding", () => {
  chain();
  expect(scenario.findings()).toEqual([]);
});

test("a chain that breaks off is a finding", () => {
  chain({ goesOn: false });
  expect(scenario.findings()).toEqual(["lost I10"]);
});

test("a run, a place or a result that differs from the chain's is a finding", () => {
  chain({ second: "c", nth: 3, path: ["a"] });
  expect(scenario.findings()).toEqual(["different I10", "different I10", "different I10"]);
});

test("a run that is continued twice is a finding", () => {
  chain();
  created("c", {}, { continued_from: { run_id: "a", first_run_id: "a", nth: 2 } }, "worker 5");
  scenario.event("RunCompleted", "run-c", "worker 6", { run_id: "c", ...FORGET }, { result: json(null) });
  expect(scenario.findings()).toEqual(["doubled I10"]);
});
