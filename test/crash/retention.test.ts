import { beforeEach, expect, test } from "vitest";
import { newScenario } from "./scenario.ts";

let scenario: ReturnType<typeof newScenario>;
beforeEach(() => {
  scenario = newScenario();
  scenario.operation("retention.set", "1", { asked: { days: "1d" } });
  scenario.event("RetentionSet", "retention-r", "1", { subject: "organization" });
});
const end = () => scenario.event("RetentionRoundEnded", "retention-r", "worker", { subject: "organization", round: 1 });

test("a round that ends and deletes nothing is no finding", () => {
  end();
  expect(scenario.findings()).toEqual([]);
});

test("an endless retention round and an unrequested deletion are findings", () => {
  expect(scenario.findings()).toEqual(["stuck I8"]);
  scenario.event("FileDeleted", "file-f", "worker 2", { file_id: "f" });
  end();
  expect(scenario.findings()).toEqual(["lost I1"]);
});
