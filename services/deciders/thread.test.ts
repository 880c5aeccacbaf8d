import { describe, expect, test } from "vitest";
import {
  NO_USAGE,
  RoundRequested,
  ThreadDeleted,
  ToolFinished,
  TurnCompleted,
  TurnDeleted,
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

describe("a turn that was built for a thread as it was", () => {
  const second = (follows: string | null | undefined) => startTurn({ turn_id: "t3", continues: true, follows });
  const other = TurnStarted.of({ ...start, turn_id: "t2", worker: "w1", command_id: "c2" }, { input });
  const begins = (events: any[], follows?: string | null) =>
    given(thread, events)
      .when(second(follows))
      .then(TurnStarted.of({ ...start, turn_id: "t3", worker: "w1", command_id: "c1" }, { input }));

  test("starts after the turn that it follows", () => begins([started, completed], "t1"));
  test("is refused, to be sent again, after another one that came first", () => {
    for (const follows of ["t1", null])
      given(thread, [
        started,
        completed,
        other,
        TurnStopped.of({ ...ids, turn_id: "t2", usage: NO_USAGE, model }, { said }),
      ])
        .when(second(follows))
        .rejected("thread_changed");
  });
  test("starts after a turn that was refused, or is deleted, since", () => {
    begins([started, completed, other, TurnRefused.of({ ...ids, turn_id: "t2", code: null })], "t1");
    begins([started, completed, TurnDeleted.of({ turn_id: "t1" })], null);
  });
  test("starts after any turn if it does not depend on one", () => begins([started, completed]));
});

describe("results of the caller's own tools", () => {
  const calls = ["a", "b"].map((id) => ({ id, name: "f", arguments: "{}", client: true as const }));
  const calling = TurnCompleted.of(
    { ...ids, finish_reason: "tool_calls", usage: NO_USAGE, model, open_calls: ["a", "b"] },
    { said: { ...said, calls } },
  );
  const answering = (answers: string[]) => startTurn({ turn_id: "t2", continues: true, answers });
  const answered = TurnStarted.of(
    { ...start, turn_id: "t2", answers: ["b", "a"], worker: "w1", command_id: "c1" },
    { input },
  );
  const second = { turn_id: "t2", attempt: 1 };

  test("belong to the calls that a turn ended with", () => {
    given(thread, [started])
      .when(complete({ finish_reason: "tool_calls", said: { ...said, calls } }))
      .then(calling);
    given(thread, [started, calling])
      .when(answering(["b", "a"]))
      .then(answered);
  });
  test.each([
    ["unknown", ["c", "a", "b"]],
    ["not all of them", ["a"]],
  ])("are refused when they are %s", (_, answers) =>
    given(thread, [started, calling]).when(answering(answers)).rejected("invalid_tool_result"),
  );
  test("are refused once the calls have results, or the thread has continued without them", () => {
    const done = TurnCompleted.of({ ...second, finish_reason: "stop", usage: NO_USAGE, model }, { said });
    const { answers: _, ...data } = answered.data;
    for (const next of [answered, { ...answered, data }])
      given(thread, [started, calling, next, done])
        .when(answering(["a", "b"]))
        .rejected("invalid_tool_result");
    given(thread, [started, calling, TurnDeleted.of({ turn_id: "t1" })])
      .when(answering(["a", "b"]))
      .rejected("invalid_tool_result");
  });
  test("may come again after the turn that they started has failed", () => {
    const failed = TurnFailed.of({ ...second, usage: NO_USAGE, model }, { said, message: "no" });
    given(thread, [started, calling, answered, failed])
      .when(answering(["b", "a"]))
      .then(answered);
  });
});

describe("starting a turn", () => {
  test("opens a thread and gives the turn to the handling worker", () => given(thread).when(startTurn()).then(started));
  test("without capacity leaves the turn without a worker", () =>
    given(thread)
      .when({ ...startTurn(), worker: undefined })
      .then(TurnStarted.of({ ...start, worker: null, command_id: "c1" }, { input })));
  test("is possible when the previous turn has ended", () =>
    given(thread, [started, completed])
      .when(startTurn({ turn_id: "t2", continues: true }))
      .then(TurnStarted.of({ ...start, turn_id: "t2", worker: "w1", command_id: "c1" }, { input })));
  test("is rejected as busy while another turn runs", () =>
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
  test("of a thread that does not exist is rejected", () =>
    given(thread)
      .when(startTurn({ continues: true }))
      .rejected("thread_not_found"));
  test("of another owner's thread is rejected with the same words", () =>
    given(thread, [started, completed])
      .when(startTurn({ scope: "yours" }))
      .rejected("thread_not_found"));
  test("of another owner's busy thread does not reveal that it is busy", () =>
    given(thread, [started])
      .when(startTurn({ scope: "yours" }))
      .rejected("thread_not_found"));
  test("of a deleted thread is rejected", () =>
    given(thread, [started, completed, ThreadDeleted.of({})])
      .when(startTurn({ continues: true }))
      .rejected("thread_not_found"));
});

describe("ending a turn", () => {
  const takenOver = TurnTakenOver.of({ turn_id: "t1", attempt: 2, worker: "w2" });
  test("completes it", () => given(thread, [started]).when(complete()).then(completed));
  test("fails it with its output so far", () =>
    given(thread, [started])
      .when(command("FailTurn", { ...ids, message: "cut", usage: NO_USAGE, said }))
      .then(TurnFailed.of({ ...ids, usage: NO_USAGE, model }, { said, message: "cut" })));
  test("stops it with its output so far", () =>
    given(thread, [started])
      .when(command("StopTurn", { ...ids, usage: NO_USAGE, said }))
      .then(TurnStopped.of({ ...ids, usage: NO_USAGE, model }, { said })));
  test("that the provider refused erases it, its key and the outcome of its command", () => {
    const refused = TurnRefused.of({ ...ids, code: null });
    given(thread, [started])
      .when(command("RefuseTurn", { ...ids, code: null, message: "no" }))
      .then(refused);
    expect(thread.erases!([refused], "thread-1")).toEqual({ things: ["turn-t1"], streams: [] });
    expect(thread.forgets!([refused], given(thread, [started]).state)).toEqual(["c1"]);
  });
  test("that a budget refused keeps the budget's message, and no message of a provider", () => {
    const limit = "The budget organization has used 2 of 2 US dollars (cost_per_month).";
    const refuse = (code: string | null) => command("RefuseTurn", { ...ids, code, message: limit });
    given(thread, [started])
      .when(refuse("budget_exceeded"))
      .then(TurnRefused.of({ ...ids, code: "budget_exceeded", limit }));
    given(thread, [started])
      .when(refuse(null))
      .then(TurnRefused.of({ ...ids, code: null }));
  });
  test("has no effect for a worker that lost it", () => given(thread, [started, takenOver]).when(complete()).then());
  test("is possible for the worker that took it over", () =>
    given(thread, [started, takenOver])
      .when(complete({ attempt: 2 }))
      .then({ ...completed, data: { ...completed.data, attempt: 2 } }));
  test("happens only once", () => given(thread, [started, completed]).when(complete()).then());
  test("has no effect after the thread was deleted", () =>
    given(thread, [started, ThreadDeleted.of({})])
      .when(complete())
      .then());
});

describe("steps of a turn", () => {
  const usage = NO_USAGE;
  const output = { ...said, calls: [{ id: "1", name: "search_documents", arguments: "{}" }], opaque: { kept: true } };
  const result = { output: { text: "nothing" }, sources: [] };
  const finished = {
    ...ids,
    round: 0,
    call: 0,
    name: "search_documents",
    status: "completed" as const,
    duration_ms: 5,
  };
  const round = command("RequestRound", { ...ids, round: 0, usage, ...output });
  const tool = command("FinishTool", { ...finished, ...result });
  const takenOver = TurnTakenOver.of({ turn_id: "t1", attempt: 2, worker: "w2" });

  test("are recorded with output and results as personal fields", () => {
    const requested = RoundRequested.of({ ...ids, round: 0, usage }, output);
    given(thread, [started]).when(round).then(requested);
    given(thread, [started, requested]).when(tool).then(ToolFinished.of(finished, result));
  });
  test("keep the worker of the turn", () => {
    const { state } = given(thread, [started]);
    const later = given(thread, [
      started,
      RoundRequested.of({ ...ids, round: 0, usage }, output),
      ToolFinished.of(finished, result),
    ]);
    expect(later.state).toEqual(state);
  });
  test("have no effect for a worker that lost it", () => {
    given(thread, [started, takenOver]).when(round).then();
    given(thread, [started, takenOver]).when(tool).then();
  });
  test("have no effect on an ended turn or a deleted thread", () => {
    given(thread, [started, completed]).when(round).then();
    given(thread, [started, ThreadDeleted.of({})])
      .when(tool)
      .then();
  });
});

describe("taking over a turn", () => {
  const takeOver = (attempt: number) => command("TakeOverTurn", { turn_id: "t1", attempt, worker: "w2" });
  test("starts the next attempt", () =>
    given(thread, [started])
      .when(takeOver(2))
      .then(TurnTakenOver.of({ turn_id: "t1", attempt: 2, worker: "w2" })));
  test("succeeds for only one of two workers", () =>
    given(thread, [started, TurnTakenOver.of({ turn_id: "t1", attempt: 2, worker: "w3" })])
      .when(takeOver(2))
      .then());
  test("has no effect on an ended turn", () => given(thread, [started, completed]).when(takeOver(2)).then());
});

describe("deleting a thread", () => {
  const remove = (scope: string) => command("DeleteThread", { scope });
  test("destroys all keys that were created in it", () => {
    given(thread, [started, completed]).when(remove("mine")).then(ThreadDeleted.of({}));
    expect(thread.erases!([ThreadDeleted.of({})], "thread-1")).toEqual({ things: [], streams: ["thread-1"] });
  });
  test("is possible only for its owner", () =>
    given(thread, [started]).when(remove("yours")).rejected("thread_not_found"));
  test("happens only once", () =>
    given(thread, [started, ThreadDeleted.of({})])
      .when(remove("mine"))
      .rejected("thread_not_found"));
});

test("the work status of a thread shows a running turn and its worker", () => {
  expect(thread.workStatus!(given(thread, [started]).state)).toEqual({
    status: "running",
    due_at: start.ends_by,
    worker: "w1",
  });
  expect(thread.workStatus!(given(thread, [started, completed]).state)).toEqual({
    status: null,
    due_at: null,
    worker: null,
  });
});
