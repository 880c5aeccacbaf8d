import { beforeEach, expect, test } from "vitest";
import { newScenario } from "./scenario.ts";

const APPROVAL = { run_id: "r", approval_id: "p", key: "k" };
const person = (id: string) => ({ type: "person", id });
let scenario: ReturnType<typeof newScenario>;
let commands = 0;
const event = (type: string, data: object) =>
  scenario.event(type, "other-r", `worker ${commands++}`, { ...APPROVAL, ...data });
beforeEach(() => {
  scenario = newScenario();
  event("ApprovalRequested", { votes: { required: 3, one_rejection_ends: false } });
});
const handOn = (by: string, to: string) => event("ApprovalDelegated", { by: person(by), to });
const vote = (id: string, more: object = {}) =>
  event("ApprovalVoted", { decision: "approve", by: person(id), ...more });

test("a delegate may vote, and so may a person to whom the approval was delegated back", () => {
  handOn("a", "b");
  vote("b");
  handOn("a", "c");
  handOn("c", "a");
  vote("a");
  expect(scenario.findings()).toEqual([]);
});

test("a vote after delegating is a finding, also by the substitute, and so is a lost delegation", () => {
  handOn("a", "b");
  vote("a");
  handOn("c", "d");
  vote("e", { in_place_of: "c" });
  scenario.operation("approval.delegate", "2");
  expect(scenario.findings().toSorted()).toEqual(["different I10", "different I10", "lost I1"]);
});
