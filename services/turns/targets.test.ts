import { describe, expect, test } from "vitest";
import { echoTool, lastEvent, stageTurn, times, USAGE } from "#test/doubles/turnStage.ts";
import { NO_USAGE, type Usage } from "#events/thread.ts";
import { addUsage } from "#events/turnOutput.ts";
import { ModelError, type ModelEvent } from "./model.ts";

/* A turn whose model is an alias, and whose worker dies between its attempts. */

const down = () => new ModelError("transient", "The provider answered 503.", { status: 503 });
/** Adds the usage of requests lost with their workers. */
const withLost = ({ events }: ReturnType<typeof stageTurn>, usage: object): Usage =>
  events
    .filter(({ type, data }) => type === "TargetFailed" && (data as any).reason === "worker_lost")
    .reduce((sum, { data }) => addUsage(sum, (data as any).usage), usage as Usage);
const askedOf = (turn: ReturnType<typeof stageTurn>) => turn.requests.map(({ model }) => model);

test("a failed target is recorded before the next is asked, and the end names the target that answered", async () => {
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

test("a worker that takes over continues after the target that had failed", async () => {
  const turn = stageTurn({
    rounds: [{ text: ["Hello"] }],
    targets: ["a", "b"],
    failure: (model) => (model === "a" ? down() : undefined),
  });
  await turn.worker("first", 2).start();
  expect(turn.types()).toEqual(["TurnStarted", "TargetFailed"]);
  await turn.worker("second").sweep();
  expect(turn.types()).toEqual(["TurnStarted", "TargetFailed", "TurnTakenOver", "TargetFailed", "TurnCompleted"]);
  expect(turn.events[3]!.data).toMatchObject({ target: "offline/b", reason: "worker_lost" });
  expect(askedOf(turn).filter((model) => model === "a")).toHaveLength(1);
  expect(lastEvent(turn).data).toMatchObject({ model: "offline/b", usage: withLost(turn, USAGE) });
});

test("a worker that takes over has no more failures than its turn has left", async () => {
  const turn = stageTurn({ rounds: [{ text: ["Hello"] }], targets: ["a", "b"], failure: down });
  await turn.worker("first", 3).start();
  await turn.worker("second").sweep();
  expect(askedOf(turn)).toEqual(["a", "b", "a"]);
  const failed = turn.events.filter(({ type }) => type === "TargetFailed").map(({ data }) => (data as any).reason);
  expect(failed).toEqual(["503", "503", "worker_lost", "503"]);
  // the provider may have been working when the first worker died, so the turn is charged
  expect(lastEvent(turn)).toMatchObject({ type: "TurnFailed", data: { usage: withLost(turn, NO_USAGE) } });
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
  expect(turn.types().slice(4)).toEqual(["TurnTakenOver", "TargetFailed", "TurnCompleted"]);
  expect(askedOf(turn)).toEqual(["a", "a", "b"]);
  expect(lastEvent(turn).data).toMatchObject({
    model: "offline/b",
    usage: withLost(turn, times(USAGE, 2)),
    usage_by_model: [
      { model: "offline/b", usage: withLost(turn, USAGE) },
      { model: "offline/a", usage: USAGE },
    ],
  });
});

test("a stopped stream keeps its words, with the target that sent them", async () => {
  const turn = stageTurn({
    rounds: [{ text: ["Half"], error: new ModelError("cut", "It broke off.") }],
    targets: ["a"],
    streamed: true,
  });
  await turn.worker("w").start();
  expect(turn.types()).toEqual(["TurnStarted", "TargetFailed", "TurnFailed"]);
  expect(lastEvent(turn).data).toMatchObject({ model: "offline/a", usage_by_model: [{ model: "offline/a" }] });
});

describe("an answer of a buffered turn that breaks off", () => {
  const stage = (targets: string[], on: string[]) =>
    stageTurn({
      rounds: [{ text: ["Hello"] }],
      targets,
      on,
      answer: (model) => (model === "a" ? [{ type: "text", text: "Half" }] : undefined),
    });
  const half = { prompt_tokens: expect.any(Number), completion_tokens: 4 };

  test("is counted beside that of the target that answers", async () => {
    const turn = stage(["a", "b"], ["connection"]);
    await turn.worker("w").start();
    expect(turn.types()).toEqual(["TurnStarted", "TargetFailed", "TurnCompleted"]);
    const { prompt_tokens } = (turn.events[1]!.data as any).usage;
    expect(prompt_tokens).toBeGreaterThan(0);
    expect(lastEvent(turn).data).toMatchObject({
      model: "offline/b",
      usage: { prompt_tokens: USAGE.prompt_tokens + prompt_tokens, completion_tokens: USAGE.completion_tokens + 4 },
      usage_by_model: [
        { model: "offline/a", usage: half },
        { model: "offline/b", usage: USAGE },
      ],
    });
  });

  test("is counted by a worker that takes over", async () => {
    const turn = stage(["a", "b"], ["connection"]);
    await turn.worker("first", 2).start();
    await turn.worker("second").sweep();
    expect(lastEvent(turn).data).toMatchObject({
      usage_by_model: [
        { model: "offline/a", usage: half },
        { model: "offline/b", usage: { ...withLost(turn, USAGE), completion_tokens: USAGE.completion_tokens } },
      ],
    });
  });

  test.each([[["connection"]], [["5xx"]]])("is paid where no other target answers, with %j", async (on) => {
    const turn = stage(["a"], on);
    await turn.worker("w").start();
    expect(lastEvent(turn)).toMatchObject({
      type: "TurnFailed",
      data: { model: "offline/a", usage: { completion_tokens: 4 * (on[0] === "connection" ? 3 : 1) } },
      personal: { said: { text: "" } },
    });
  });
});

const tooLong = () =>
  new ModelError("refused", "The provider answered 400: prompt is too long", { status: 400, reason: "context_length" });

test.each([
  [["context_length"], "TurnCompleted", ["a", "b"]],
  [["400"], "TurnCompleted", ["a", "b"]],
  [["5xx", "content_filter"], "TurnRefused", ["a"]],
])("a request that is too long for a target goes on to the next with %j: %s", async (on, end, asked) => {
  const turn = stageTurn({
    rounds: [{ text: ["Hello"] }],
    targets: ["a", "b"],
    on,
    failure: (model) => (model === "a" ? tooLong() : undefined),
  });
  await turn.worker("w").start();
  expect(askedOf(turn)).toEqual(asked);
  expect(turn.types()).toEqual(["TurnStarted", "TargetFailed", end]);
  expect(turn.events[1]!.data).toMatchObject({ target: "offline/a", reason: "context_length" });
});

const FILTERED: ModelEvent[] = [
  { type: "refusal", text: "Stopped by the filter." },
  { type: "finish", finish_reason: "content_filter", usage: USAGE },
];

describe.each([{ streamed: false }, { streamed: true }])(
  "an answer that a filter stopped (streamed: $streamed)",
  ({ streamed }) => {
    const stage = (on: string[], targets = ["a", "b"]) =>
      stageTurn({
        rounds: [{ text: ["Hello"] }],
        targets,
        on,
        streamed,
        answer: (model) => (model === "a" ? FILTERED : undefined),
      });

    test("moves to the next target if the alias allows it, and readers see only that answer", async () => {
      const turn = stage(["content_filter"]);
      await turn.worker("w").start();
      expect(askedOf(turn)).toEqual(["a", "b"]);
      expect(turn.types()).toEqual(["TurnStarted", "TargetFailed", "TurnCompleted"]);
      expect(turn.events[1]!.data).toMatchObject({ target: "offline/a", reason: "content_filter" });
      expect(lastEvent(turn).data).toMatchObject({
        model: "offline/b",
        finish_reason: "stop",
        // both are paid for
        usage: times(USAGE, 2),
        usage_by_model: [
          { model: "offline/a", usage: USAGE },
          { model: "offline/b", usage: USAGE },
        ],
      });
      expect(turn.frames.some(({ type }) => type === "refusal")).toBe(false);
    });

    test("is the answer if the alias does not allow it, or if no other target answers", async () => {
      for (const turn of [stage(["5xx"]), stage(["content_filter"], ["a"])]) {
        await turn.worker("w").start();
        expect(turn.types().at(-1)).toBe("TurnCompleted");
        expect(lastEvent(turn).data).toMatchObject({
          model: "offline/a",
          finish_reason: "content_filter",
          usage: USAGE,
        });
        if (streamed) expect(turn.frames.map(({ type }) => type)).toEqual(["target", "refusal", "end"]);
      }
    });
  },
);

test("an answer that a filter stopped after words that readers have seen stays", async () => {
  const turn = stageTurn({
    rounds: [{ text: ["Hello"] }],
    targets: ["a", "b"],
    on: ["content_filter"],
    streamed: true,
    answer: (model) => (model === "a" ? [{ type: "text", text: "Half" }, FILTERED[1]!] : undefined),
  });
  await turn.worker("w").start();
  expect(askedOf(turn)).toEqual(["a"]);
  expect(lastEvent(turn).data).toMatchObject({ model: "offline/a", finish_reason: "content_filter" });
});
