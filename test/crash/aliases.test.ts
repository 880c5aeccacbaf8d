import { expect, test } from "vitest";
import { newScenario, THREAD } from "./scenario.ts";

const TARGETS = ["p/first", "p/second"];
const usage = { prompt_tokens: 3, completion_tokens: 4 };

/** The findings about a turn of an alias that allows two failures. */
function findings(failures: string[], end: object): string[] {
  const scenario = newScenario();
  const of = (type: string, data: object, personal?: object) =>
    scenario.event(type, THREAD, "1", { turn_id: "u", attempt: 1, ...data }, personal);
  of("TurnStarted", { route: { targets: TARGETS, max_attempts: 2 } }, { input: {} });
  for (const reason of failures) of("TargetFailed", { target: TARGETS[0], reason });
  of("TurnCompleted", end, { said: { text: "u" } });
  return scenario.findings().filter((finding) => finding.endsWith("I25"));
}

const partOf = (model: string) => ({ model, usage });
const sound = { usage, model: "p/second", usage_by_model: [partOf("p/second")] };

test("a turn that its alias's second target answered is no finding, whatever was not asked before", () => {
  expect(findings(["503"], sound)).toEqual([]);
  expect(findings(["503", "timeout", "circuit_open", "worker_lost", "no_credential"], sound)).toEqual([]);
});

test("more failures than the alias allows, another model, and usage that is not the sum of its targets' are findings", () => {
  expect(findings(["503", "503", "timeout"], sound)).toEqual(["different I25"]);
  expect(findings([], { ...sound, model: "p/third" })).toEqual(["different I25"]);
  expect(findings([], { ...sound, usage_by_model: [partOf("p/third")] })).toEqual(["different I25"]);
  expect(findings([], { ...sound, usage_by_model: TARGETS.map(partOf) })).toEqual(["different I25"]);
});
