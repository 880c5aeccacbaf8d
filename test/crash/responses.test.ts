import { beforeEach, describe, expect, test } from "vitest";
import { NO_USAGE } from "#events/thread.ts";
import { REGENERATED_MESSAGE } from "#http/agents/responseStream.ts";
import { newScenario, THREAD } from "./scenario.ts";

let scenario: ReturnType<typeof newScenario>;
beforeEach(() => (scenario = newScenario()));

const answer = (text: string, more: object = {}) => ({
  asked: {},
  got: { response_id: "resp_a", status: "completed", text, deltas: text, numbered: true, terminal: 1, ...more },
});

/** A response with a text, requested by operation 1. */
function stored(text: string) {
  scenario.event("TurnStarted", THREAD, "1", { turn_id: "a" }, { input: {} });
  scenario.event("TurnCompleted", THREAD, "1", { turn_id: "a", usage: NO_USAGE }, { said: { text } });
}

test("a response whose answer matches the stored response is no finding", () => {
  stored("Looking.\n\nFound.");
  scenario.operation("agent.respond", "1", answer("Looking. Found."));
  scenario.operation("agent.read", "2", {
    asked: { response_id: "resp_a" },
    got: { status: "completed", text: "Looking. Found." },
  });
  expect(scenario.findings()).toEqual([]);
});

test("a stream that reports that its answer was regenerated is no finding", () => {
  stored("Found.");
  scenario.operation("agent.respond", "1", answer("Look", { status: "failed", error: REGENERATED_MESSAGE }));
  expect(scenario.findings()).toEqual([]);
});

test("a resumed stream that ends as regenerated, and had shown what the bus lost, is no finding", () => {
  stored("Found.");
  scenario.fault("nats");
  const ended = { status: "failed", error: REGENERATED_MESSAGE, deltas: "Looking." };
  scenario.operation("agent.respond", "1", answer("Look", ended));
  expect(scenario.findings()).toEqual([]);
});

/** The end of a turn whose workers died after its stream had sent these pieces, and a fault in that time. */
function givenUp(pieces: string, target: string) {
  const message = "The turn was given up: two processes died while they worked on it.";
  scenario.fault(target);
  scenario.event("TurnStarted", THREAD, "1", { turn_id: "a" }, { input: {} });
  scenario.event("TurnFailed", THREAD, "1", { turn_id: "a", usage: NO_USAGE }, { said: { text: "Looking." }, message });
  scenario.operation("agent.respond", "1", answer("Looking.", { status: "failed", error: message, deltas: pieces }));
}

test("a stream that showed more than is stored of a turn whose workers and bus died is no finding", () => {
  givenUp("Looking. Fou", "nats");
  expect(scenario.findings()).toEqual([]);
});

describe("the checker finds", () => {
  test.each([
    ["something else than is stored of a turn whose workers and bus died", "Found.", "nats"],
    ["more than is stored of a turn whose workers died while the bus was well", "Looking. Fou", "services 1"],
  ])("a stream that showed %s", (_title, pieces, target) => {
    givenUp(pieces, target);
    expect(scenario.findings()).toEqual(["different I11"]);
  });

  test("a response that is missing in the log, or differs from it", () => {
    scenario.operation("agent.respond", "1", answer("Found."));
    expect(scenario.findings()).toContain("lost I1");
    stored("Lost.");
    expect(scenario.findings()).toContain("different I11");
  });

  test("a stream with a gap, with two ends, or with pieces that do not form the whole", () => {
    stored("Found.");
    scenario.operation("agent.respond", "1", answer("Found.", { numbered: false, terminal: 2, deltas: "Fo" }));
    expect(scenario.findings()).toEqual(["different I11", "different I11", "different I11"]);
  });

  test("a call that ended twice", () => {
    const call = { turn_id: "a", round: 0, call: 0 };
    scenario.event("ToolFinished", THREAD, "1", call);
    scenario.event("ToolFinished", THREAD, "2", call);
    expect(scenario.findings()).toEqual(["doubled I5"]);
  });

  test("a stored response that differs from the answer", () => {
    stored("Found.");
    scenario.operation("agent.respond", "1", answer("Found."));
    scenario.operation("agent.read", "2", {
      asked: { response_id: "resp_a" },
      got: { status: "completed", text: "Else." },
    });
    expect(scenario.findings()).toEqual(["different I16"]);
  });
});
