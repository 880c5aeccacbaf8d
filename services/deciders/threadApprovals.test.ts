import { describe, expect, test } from "vitest";
import { NO_USAGE, ThreadDeleted, TurnDeleted, TurnStarted, TurnStopped, TurnTakenOver } from "#events/thread.ts";
import {
  ToolApprovalCancelled,
  ToolApprovalDecided,
  ToolApprovalExpired,
  ToolApprovalRequested,
  ToolStarted,
  TurnParked,
  TurnResumed,
} from "#events/threadApprovals.ts";
import { command, given } from "#test/given.ts";
import { thread } from "./thread.ts";

const ids = { turn_id: "t1", attempt: 1 };
const said = { text: "Hi", reasoning: "", citations: [] };
const input = { prompt_blob: "b" };
const start = { turn_id: "t1", scope: "mine", model: "offline/echo", streamed: true };
const LATER = "2026-01-01T00:10:00.000Z";
const started = TurnStarted.of({ ...start, ends_by: LATER, worker: "w1", command_id: "c1" }, { input });

const asker = { agent_id: "a1", project_id: null, asked_by: { type: "key" as never, id: "k1" } };
const terms = (n: number, expires_at = "2026-01-03T00:00:00.000Z") => ({
  approval_id: `p${n}`,
  round: 0,
  call: n,
  tool: "pay",
  self_approval: true,
  allow_api_key: false,
  expires_at,
});
const park = (...approvals: ReturnType<typeof terms>[]) =>
  command("ParkTurn", {
    ...ids,
    ...asker,
    frames: "f",
    approvals: approvals.map((each) => ({ ...each, assignees: [] })),
  });
const requested = (n: number, expires_at?: string) =>
  ToolApprovalRequested.of({ ...ids, ...terms(n, expires_at), ...asker }, { assignees: [] });
const parked = TurnParked.of({ ...ids, frames: "f", left_ms: 600_000 });

const by = { type: "person" as const, id: "u1" };
const at = "2026-01-02T00:00:00.000Z";
const decide = (n: number, decision = "approve", rest: object = { worker: "w2", at }) =>
  command("DecideToolApproval", { turn_id: "t1", approval_id: `p${n}`, decision, by, comment: null }, rest);
const decided = (n: number, decision: "approve" | "reject" = "approve") =>
  ToolApprovalDecided.of(
    { turn_id: "t1", approval_id: `p${n}`, round: 0, call: n, decision, by, at },
    { comment: null },
  );
const expired = (n: number) => ToolApprovalExpired.of({ turn_id: "t1", approval_id: `p${n}`, round: 0, call: n });
const cancelled = (n: number) => ToolApprovalCancelled.of({ turn_id: "t1", approval_id: `p${n}`, round: 0, call: n });
const resumed = (worker: string | null = "w2") =>
  TurnResumed.of({ turn_id: "t1", attempt: 2, worker, ends_by: "2026-01-02T00:10:00.000Z" });

describe("a turn that waits for approvals", () => {
  const waiting = [started, requested(0), requested(1, "2026-01-02T00:00:00.000Z"), parked];

  test("is parked with the time that it has left, at least a minute", () => {
    given(thread, [started])
      .when(park(terms(0)))
      .then(requested(0), parked);
    const late = { ...park(terms(0)), at: "2026-01-01T00:09:59.000Z" };
    given(thread, [started])
      .when(late)
      .then(requested(0), TurnParked.of({ ...ids, frames: "f", left_ms: 60_000 }));
  });
  test("has no worker, and is due when the first approval expires", () => {
    const { state } = given(thread, waiting);
    expect(thread.workStatus!(state)).toEqual({
      status: "waiting",
      due_at: "2026-01-02T00:00:00.000Z",
      worker: null,
    });
  });
  test("is not parked twice, and not by an older attempt", () => {
    given(thread, waiting)
      .when(park(terms(2)))
      .then();
    given(thread, [started, TurnTakenOver.of({ turn_id: "t1", attempt: 2, worker: "w2" })])
      .when(park(terms(0)))
      .then();
  });
  test.each([
    [
      "FinishTool",
      { round: 0, call: 0, name: "pay", status: "completed", duration_ms: 1, output: { text: "" }, sources: [] },
    ],
    ["StartTool", { round: 0, call: 0 }],
    ["RequestRound", { round: 1, usage: NO_USAGE, ...said, calls: [] }],
    ["CompleteTurn", { finish_reason: "stop", usage: NO_USAGE, said }],
    ["RefuseTurn", { code: null, message: "" }],
  ])("takes no %s", (type, data) =>
    given(thread, waiting)
      .when(command(type, { ...ids, ...data }))
      .then(),
  );
  test("cannot be taken over", () =>
    given(thread, waiting)
      .when(command("TakeOverTurn", { turn_id: "t1", attempt: 2, worker: "w2" }))
      .then());
  test("keeps its thread busy, which the refusal of another turn explains", () => {
    const { state } = given(thread, waiting);
    const next = command("StartTurn", { ...start, turn_id: "t2", ends_by: LATER, input, continues: true });
    expect(() => thread.decide(next as never, state)).toThrow(/waits for the approval of a tool call/);
  });
});

describe("a decision", () => {
  test("resumes the turn with the next attempt and the time that it had left", () =>
    given(thread, [started, requested(0), parked])
      .when(decide(0))
      .then(decided(0), resumed()));
  test("that is a rejection resumes it, too", () =>
    given(thread, [started, requested(0), parked])
      .when(decide(0, "reject"))
      .then(decided(0, "reject"), resumed()));
  test("handled by a process without room leaves the turn to others", () =>
    given(thread, [started, requested(0), parked])
      .when(decide(0, "approve", { at }))
      .then(decided(0), resumed(null)));
  test("waits for the others of its round", () => {
    given(thread, [started, requested(0), requested(1), parked])
      .when(decide(1))
      .then(decided(1));
    given(thread, [started, requested(0), requested(1), parked, decided(1)])
      .when(decide(0))
      .then(decided(0), resumed());
  });
  test.each([
    ["a second time", [started, requested(0), parked, decided(0), resumed()]],
    ["after it expired", [started, requested(0, at), parked]],
    [
      "of a turn that was stopped",
      [started, requested(0), parked, cancelled(0), TurnStopped.of({ ...ids, usage: NO_USAGE, model: "m" }, { said })],
    ],
    ["of a deleted thread", [started, requested(0), parked, ThreadDeleted.of({})]],
    ["of a thread that never was", []],
  ])("%s is refused", (_, events) => given(thread, events).when(decide(0)).rejected("approval_not_pending"));
  test("gives the turn back to the sweep if its process dies: it is open work again", () => {
    const { state } = given(thread, [started, requested(0), parked, decided(0), resumed()]);
    expect(thread.workStatus!(state)).toEqual({ status: "running", due_at: "2026-01-02T00:10:00.000Z", worker: "w2" });
    given(thread, [started, requested(0), parked, decided(0), resumed()])
      .when(command("StartTool", { turn_id: "t1", attempt: 2, round: 0, call: 0 }))
      .then(ToolStarted.of({ turn_id: "t1", attempt: 2, round: 0, call: 0 }));
  });
});

describe("the time of an approval", () => {
  const expire = (when: string, rest: object = {}) =>
    command("ExpireToolApprovals", ids, { at: when, worker: "w2", ...rest });
  test("ends it, and the last one resumes the turn", () => {
    given(thread, [started, requested(0, at), requested(1), parked])
      .when(expire(at))
      .then(expired(0));
    given(thread, [started, requested(0, at), parked])
      .when(expire(at))
      .then(expired(0), resumed());
  });
  test("does not end it early, a second time, or for an older attempt", () => {
    given(thread, [started, requested(0), parked])
      .when(expire(at))
      .then();
    given(thread, [started, requested(0, at), parked, expired(0), resumed()])
      .when(expire(at))
      .then();
  });
});

describe("a parked turn that ends", () => {
  const waiting = [started, requested(0), requested(1), parked];
  test("because it is stopped cancels its approvals", () =>
    given(thread, waiting)
      .when(command("StopTurn", { ...ids, usage: NO_USAGE, said }))
      .then(cancelled(0), cancelled(1), TurnStopped.of({ ...ids, usage: NO_USAGE, model: "offline/echo" }, { said })));
  test("because it or its thread is deleted cancels them as well", () => {
    given(thread, waiting)
      .when(command("DeleteTurn", { turn_id: "t1", scope: "mine" }))
      .then(cancelled(0), cancelled(1), TurnDeleted.of({ turn_id: "t1" }));
    given(thread, waiting)
      .when(command("DeleteThread", { scope: "mine" }))
      .then(cancelled(0), cancelled(1), ThreadDeleted.of({}));
  });
});
