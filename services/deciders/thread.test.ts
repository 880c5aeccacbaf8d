import { describe, expect, test } from "vitest";
import {
  NO_USAGE,
  RoundRequested,
  ThreadDeleted,
  ToolFinished,
  TurnCompleted,
  TurnFailed,
  TurnRefused,
  TurnStarted,
  TurnStopped,
  TurnTakenOver,
} from "#events/thread.ts";
import { command, given } from "#test/given.ts";
import { thread } from "./thread.ts";

const ids = { turn_id: "t1", attempt: 1 };
const model = "offline/echo";
const said = { text: "Hi", reasoning: "", citations: [] };
const input = { prompt_blob: "b" };
const start = { turn_id: "t1", scope: "mine", model, streamed: false, ends_by: "2026-01-01T00:10:00.000Z" };
const started = TurnStarted.of({ ...start, worker: "w1", command_id: "c1" }, { input });
const completed = TurnCompleted.of({ ...ids, finish_reason: "stop", usage: NO_USAGE, model }, { said });
const startTurn = (more = {}) => command("StartTurn", { ...start, input, continues: false, ...more }, { worker: "w1" });
const complete = (more = {}) =>
  command("CompleteTurn", { ...ids, finish_reason: "stop", usage: NO_USAGE, said, ...more });

describe("starting a turn", () => {
  test("opens a thread, held by the worker that handles it", () => given(thread).when(startTurn()).then(started));
  test("without room is held by nobody", () =>
    given(thread)
      .when({ ...startTurn(), worker: undefined })
      .then(TurnStarted.of({ ...start, worker: null, command_id: "c1" }, { input })));
  test("goes on when the turn before has ended", () =>
    given(thread, [started, completed])
      .when(startTurn({ turn_id: "t2", continues: true }))
      .then(TurnStarted.of({ ...start, turn_id: "t2", worker: "w1", command_id: "c1" }, { input })));
  test("waits while another runs", () =>
    given(thread, [started])
      .when(startTurn({ turn_id: "t2" }))
      .rejected("thread_busy"));
  test("does not begin a refused turn again, whose message may come twice, but another turn of the same command", () => {
    const refused = given(thread, [started, TurnRefused.of({ ...ids, code: null })]);
    refused.when(startTurn()).rejected("unavailable");
    refused
      .when(startTurn({ turn_id: "t2" }))
      .then(TurnStarted.of({ ...start, turn_id: "t2", worker: "w1", command_id: "c1" }, { input }));
  });
  test("of a thread that does not exist is refused", () =>
    given(thread)
      .when(startTurn({ continues: true }))
      .rejected("thread_not_found"));
  test("of somebody else's thread is refused in the same words", () =>
    given(thread, [started, completed])
      .when(startTurn({ scope: "yours" }))
      .rejected("thread_not_found"));
  test("of somebody else's busy thread does not show that it is busy", () =>
    given(thread, [started])
      .when(startTurn({ scope: "yours" }))
      .rejected("thread_not_found"));
  test("of a deleted thread is refused", () =>
    given(thread, [started, completed, ThreadDeleted.of({})])
      .when(startTurn({ continues: true }))
      .rejected("thread_not_found"));
});

describe("ending a turn", () => {
  const takenOver = TurnTakenOver.of({ turn_id: "t1", attempt: 2, worker: "w2" });
  test("completes it", () => given(thread, [started]).when(complete()).then(completed));
  test("fails it with what was said", () =>
    given(thread, [started])
      .when(command("FailTurn", { ...ids, message: "cut", usage: NO_USAGE, said }))
      .then(TurnFailed.of({ ...ids, usage: NO_USAGE, model }, { said, message: "cut" })));
  test("stops it with what was said", () =>
    given(thread, [started])
      .when(command("StopTurn", { ...ids, usage: NO_USAGE, said }))
      .then(TurnStopped.of({ ...ids, usage: NO_USAGE, model }, { said })));
  test("takes it back when the provider refused, with its key and its command's outcome", () => {
    const refused = TurnRefused.of({ ...ids, code: null });
    given(thread, [started])
      .when(command("RefuseTurn", { ...ids, code: null, message: "no" }))
      .then(refused);
    expect(thread.erases!([refused], "thread-1")).toEqual({ things: ["turn-t1"], streams: [] });
    expect(thread.forgets!([refused], given(thread, [started]).state)).toEqual(["c1"]);
  });
  test("is refused to a worker that lost it", () => given(thread, [started, takenOver]).when(complete()).then());
  test("is for the worker that took it over", () =>
    given(thread, [started, takenOver])
      .when(complete({ attempt: 2 }))
      .then({ ...completed, data: { ...completed.data, attempt: 2 } }));
  test("happens once", () => given(thread, [started, completed]).when(complete()).then());
  test("after the thread was deleted changes nothing", () =>
    given(thread, [started, ThreadDeleted.of({})])
      .when(complete())
      .then());
});

describe("steps of a turn", () => {
  const usage = NO_USAGE;
  const asked = { ...said, calls: [{ id: "1", name: "search_documents", arguments: "{}" }], opaque: { kept: true } };
  const result = { output: { text: "nothing" }, sources: [] };
  const finished = {
    ...ids,
    round: 0,
    call: 0,
    name: "search_documents",
    status: "completed" as const,
    duration_ms: 5,
  };
  const round = command("RequestRound", { ...ids, round: 0, usage, ...asked });
  const tool = command("FinishTool", { ...finished, ...result });
  const takenOver = TurnTakenOver.of({ turn_id: "t1", attempt: 2, worker: "w2" });

  test("are recorded, what was said and found as personal words", () => {
    const requested = RoundRequested.of({ ...ids, round: 0, usage }, asked);
    given(thread, [started]).when(round).then(requested);
    given(thread, [started, requested]).when(tool).then(ToolFinished.of(finished, result));
  });
  test("leave the turn to the worker that has it", () => {
    const { state } = given(thread, [started]);
    const later = given(thread, [
      started,
      RoundRequested.of({ ...ids, round: 0, usage }, asked),
      ToolFinished.of(finished, result),
    ]);
    expect(later.state).toEqual(state);
  });
  test("of a worker that lost it are refused", () => {
    given(thread, [started, takenOver]).when(round).then();
    given(thread, [started, takenOver]).when(tool).then();
  });
  test("of an ended turn or a deleted thread change nothing", () => {
    given(thread, [started, completed]).when(round).then();
    given(thread, [started, ThreadDeleted.of({})])
      .when(tool)
      .then();
  });
});

describe("taking over", () => {
  const takeOver = (attempt: number) => command("TakeOverTurn", { turn_id: "t1", attempt, worker: "w2" });
  test("goes to the next attempt", () =>
    given(thread, [started])
      .when(takeOver(2))
      .then(TurnTakenOver.of({ turn_id: "t1", attempt: 2, worker: "w2" })));
  test("is for one of two that try", () =>
    given(thread, [started, TurnTakenOver.of({ turn_id: "t1", attempt: 2, worker: "w3" })])
      .when(takeOver(2))
      .then());
  test("of an ended turn changes nothing", () => given(thread, [started, completed]).when(takeOver(2)).then());
});

describe("deleting", () => {
  const remove = (scope: string) => command("DeleteThread", { scope });
  test("ends the thread and every key made in it", () => {
    given(thread, [started, completed]).when(remove("mine")).then(ThreadDeleted.of({}));
    expect(thread.erases!([ThreadDeleted.of({})], "thread-1")).toEqual({ things: [], streams: ["thread-1"] });
  });
  test("is for its owner", () => given(thread, [started]).when(remove("yours")).rejected("thread_not_found"));
  test("happens once", () =>
    given(thread, [started, ThreadDeleted.of({})])
      .when(remove("mine"))
      .rejected("thread_not_found"));
});

test("the head shows running work and who has it", () => {
  expect(thread.head!(given(thread, [started]).state)).toEqual({
    status: "running",
    due_at: start.ends_by,
    worker: "w1",
  });
  expect(thread.head!(given(thread, [started, completed]).state)).toEqual({ status: null, due_at: null, worker: null });
});
