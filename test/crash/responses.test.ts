import { beforeEach, describe, expect, test } from "vitest";
import { NO_USAGE } from "#events/thread.ts";
import { story, THREAD } from "./story.ts";

let told: ReturnType<typeof story>;
beforeEach(() => (told = story()));

const answer = (text: string, more: object = {}) => ({
  asked: {},
  got: { response_id: "resp_a", status: "completed", text, deltas: text, numbered: true, terminal: 1, ...more },
});

/** A response that says a text, asked for by operation 1. */
function stored(text: string) {
  told.event("TurnStarted", THREAD, "1", { turn_id: "a" }, { input: {} });
  told.event("TurnCompleted", THREAD, "1", { turn_id: "a", usage: NO_USAGE }, { said: { text } });
}

test("a response that is answered and read as it is stored is no finding", () => {
  stored("Looking.\n\nFound.");
  told.operation("agent.respond", "1", answer("Looking. Found."));
  told.operation("agent.read", "2", {
    asked: { response_id: "resp_a" },
    got: { status: "completed", text: "Looking. Found." },
  });
  expect(told.findings()).toEqual([]);
});

describe("the checker finds", () => {
  test("a response that is not in the log, and one that says something else there", () => {
    told.operation("agent.respond", "1", answer("Found."));
    expect(told.findings()).toContain("lost I1");
    stored("Lost.");
    expect(told.findings()).toContain("different I11");
  });

  test("a stream with a gap, with two ends, and with pieces that are not the whole", () => {
    stored("Found.");
    told.operation("agent.respond", "1", answer("Found.", { numbered: false, terminal: 2, deltas: "Fo" }));
    expect(told.findings()).toEqual(["different I11", "different I11", "different I11"]);
  });

  test("a call that ended twice", () => {
    const call = { turn_id: "a", round: 0, call: 0 };
    told.event("ToolFinished", THREAD, "1", call);
    told.event("ToolFinished", THREAD, "2", call);
    expect(told.findings()).toEqual(["doubled I5"]);
  });

  test("a response that reads otherwise than it was answered", () => {
    stored("Found.");
    told.operation("agent.respond", "1", answer("Found."));
    told.operation("agent.read", "2", {
      asked: { response_id: "resp_a" },
      got: { status: "completed", text: "Else." },
    });
    expect(told.findings()).toEqual(["different I16"]);
  });
});
