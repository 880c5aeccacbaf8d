import { beforeEach, expect, test } from "vitest";
import { PERSONAL } from "../../dev/crash/topology.ts";
import { heard, newScenario, turn } from "./scenario.ts";

let scenario: ReturnType<typeof newScenario>;
beforeEach(() => {
  scenario = newScenario();
  scenario.event("FileUploaded", "file-f", "2", { file_id: "f", scope: "key:k" });
  turn(scenario, "u", "1");
  scenario.operation("chat", "1", heard("u"));
  scenario.operation("file.upload", "2", { asked: { sha256: "s" }, got: { file_id: "f" } });
});

const WHOLE = {
  complete: true,
  counts: { thread: 1, turn: 1, file: 1, content: 1 },
  threads: ["t"],
  turns: [{ id: "u", text: "u" }],
  files: [{ id: "f", sha256: "s" }],
  contents: [{ named: "s", sent: "s" }],
};
function findingsOf(more: object) {
  const got = { ...WHOLE, announced: WHOLE.counts, ...more };
  scenario.operation("export.read", "3", { asked: { user: `${PERSONAL}-0` }, got });
  return scenario.findings().filter((finding) => finding.endsWith("I18"));
}

test("an export with everything once is no finding, and neither is one that does not claim to be complete", () => {
  expect([findingsOf({}), findingsOf({ complete: false, files: [] })]).toEqual([[], []]);
});

test("acknowledged data that an export lacks is a finding", () => {
  expect(findingsOf({ files: [], turns: [] })).toEqual(["lost I18", "lost I18"]);
});

test("an item that an export repeats, or has with other bytes, other text or a wrong final count, is a finding", () => {
  const more = {
    threads: ["t", "t"],
    contents: [{ named: "s", sent: "r" }],
    turns: [{ id: "u", text: "v" }],
    announced: {},
  };
  expect(findingsOf(more).toSorted()).toEqual(["different I18", "different I18", "different I18", "doubled I18"]);
});

test("an export may lack data whose deletion was requested", () => {
  scenario.operation("file.delete", "4", { asked: { file_id: "f" } });
  expect(findingsOf({ files: [], contents: [] })).toEqual([]);
});
