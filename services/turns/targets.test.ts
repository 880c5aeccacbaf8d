import { expect, test } from "vitest";
import { echoTool, lastEvent, stageTurn, times, USAGE } from "#test/doubles/turnStage.ts";
import { ModelError } from "./model.ts";

/* A turn whose model is an alias, and whose worker dies between its attempts. */

const down = () => new ModelError("transient", "The provider answered 503.", { status: 503 });
const askedOf = (turn: ReturnType<typeof stageTurn>) => turn.requests.map(({ model }) => model);

test("a failed target is recorded before the next is asked, and the end names the one that answered", async () => {
  const turn = stageTurn({
    rounds: [{ text: ["Hello"] }],
    targets: ["a", "b"],
    failure: (model) => (model === "a" ? down() : undefined),
    streamed: true,
  });
  await turn.worker("w").start();
  expect(turn.types()).toEqual(["TurnStarted", "TargetFailed", "TurnCompleted"]);
  expect(askedOf(turn)).toEqual(["a", "b"]);
  expect(lastEvent(turn).data).toMatchObject({
    model: "offline/b",
    usage: USAGE,
    usage_by_model: [{ model: "offline/b", usage: USAGE }],
  });
  expect(turn.frames.map((frame) => (frame.type === "target" ? frame.model : frame.type))).toEqual([
    "offline/b",
    "text",
    "end",
  ]);
});

test("a worker that takes over goes on after the target that had failed", async () => {
  const turn = stageTurn({
    rounds: [{ text: ["Hello"] }],
    targets: ["a", "b"],
    failure: (model) => (model === "a" ? down() : undefined),
  });
  await turn.worker("first", 2).start();
  expect(turn.types()).toEqual(["TurnStarted", "TargetFailed"]);
  await turn.worker("second").sweep();
  expect(turn.types()).toEqual(["TurnStarted", "TargetFailed", "TurnTakenOver", "TurnCompleted"]);
  expect(askedOf(turn).filter((model) => model === "a")).toHaveLength(1);
  expect(lastEvent(turn).data).toMatchObject({ model: "offline/b", usage: USAGE });
});

test("a worker that takes over has no more failures than its turn has left", async () => {
  const turn = stageTurn({ rounds: [{ text: ["Hello"] }], targets: ["a", "b"], failure: down });
  await turn.worker("first", 3).start();
  await turn.worker("second").sweep();
  expect(askedOf(turn)).toEqual(["a", "b", "a"]);
  expect(turn.types().filter((type) => type === "TargetFailed")).toHaveLength(3);
  expect(turn.types().at(-1)).toBe("TurnRefused");
});

test("a round that a target has answered is asked once, and counted once, under that target", async () => {
  const turn = stageTurn({
    rounds: [{ calls: ["one"] }, { text: ["Found."] }],
    tools: [echoTool("one")],
    targets: ["a", "b"],
    failure: (model, round) => (model === "a" && round === 1 ? down() : undefined),
  });
  // dies after the tool has run and the first target has failed in the second round
  await turn.worker("first", 4).start();
  expect(turn.types()).toEqual(["TurnStarted", "RoundRequested", "ToolFinished", "TargetFailed"]);
  await turn.worker("second").sweep();
  expect(turn.types().slice(4)).toEqual(["TurnTakenOver", "TurnCompleted"]);
  expect(askedOf(turn)).toEqual(["a", "a", "b"]);
  expect(lastEvent(turn).data).toMatchObject({
    model: "offline/b",
    usage: times(USAGE, 2),
    usage_by_model: [
      { model: "offline/a", usage: USAGE },
      { model: "offline/b", usage: USAGE },
    ],
  });
});

test("a stopped stream keeps its words, under the target that said them", async () => {
  const turn = stageTurn({
    rounds: [{ text: ["Half"], error: new ModelError("cut", "It broke off.") }],
    targets: ["a"],
    streamed: true,
  });
  await turn.worker("w").start();
  expect(turn.types()).toEqual(["TurnStarted", "TargetFailed", "TurnFailed"]);
  expect(lastEvent(turn).data).toMatchObject({ model: "offline/a", usage_by_model: [{ model: "offline/a" }] });
});
