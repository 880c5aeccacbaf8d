import { describe, expect, test } from "vitest";
import {
  ApprovalCancelled,
  ApprovalDecided,
  ApprovalEscalated,
  ApprovalExpired,
  ApprovalReminded,
  ApprovalRequested,
  RunCancelled,
  RunCompleted,
  RunCreated,
  RunFailed,
  RunForgotten,
  RunKept,
  RunLogged,
  RunParked,
  RunStarted,
  RunTaken,
  RunWarned,
  StepAttemptFailed,
  StepAttemptLost,
  StepCompleted,
  StepFailed,
  StepStarted,
  StepsScheduled,
  TimerFired,
  TimerStarted,
  ValueNoted,
  type RunEvent,
} from "#events/run.ts";
import type { TickResult } from "#events/runParts.ts";
import { RunLimits } from "#events/workflow.ts";
import { command, given } from "#test/given.ts";
import { NO_TICK } from "#test/noTick.ts";
import { run } from "./run.ts";
import { isRunning } from "./runState.ts";

const AT = "2026-01-01T00:00:00.000Z";
const LATER = "2026-01-01T01:00:00.000Z";
const EXPIRES = "2026-01-02T00:00:00.000Z";
const FORGET = "2026-01-31T00:00:00.000Z";
const id = { run_id: "r1" };
const [A, B, C] = ["a", "b", "c"].map((key) => key.repeat(22)) as [string, string, string];

const fixed = {
  ...id,
  workflow_id: "w1",
  definition_id: "d1",
  definition_version: 1,
  project_id: null,
  trigger_id: null,
  started_by: { type: "api_key" as const, id: "k1" },
  run_as: { type: "service" as const, id: null },
  limits: RunLimits.parse({ max_steps: 3 }),
  expires_at: EXPIRES,
  retention_days: 30,
  approvals: { default_expiry_s: 60, allow_api_key: true },
  slot: "s1",
};
const words = { args: { json: "{}" }, external_user_id: null };
const created = RunCreated.of({ ...fixed, created_at: AT, worker: "p1" }, words);
const started = RunStarted.of({ ...id, at: AT });
const scheduled = (keys: string[], on_error: "fail" | "return" = "fail") =>
  StepsScheduled.of(
    {
      ...id,
      at: AT,
      concurrency: null,
      on_error,
      steps: keys.map((key) => ({ key, name: "pay", batch: null, index: null })),
    },
    { args: keys.map(() => ({ json: "1" })) },
  );
const attemptIds = (key: string, attempt = 1) => ({ ...id, key, name: "pay", attempt });
const stepStarted = (key: string, attempt = 1, worker = "p1") =>
  StepStarted.of({ ...attemptIds(key, attempt), at: AT, worker });
const spent = { duration_ms: 5, secrets: ["stripe"] };
const done = (key: string, attempt = 1) =>
  StepCompleted.of({ ...attemptIds(key, attempt), at: AT, ...spent }, { result: { json: "2" }, logs: ["hi"] });
const error = { message: "no", line: 3 };
const failure = { error, logs: [] };
const terms = {
  self_approval: true,
  allow_api_key: true,
  expires_at: LATER,
  on_expiry: "return" as const,
};
const approvalText = { name: "boss", title: "Pay?", body: null, form: null, assignees: [] };
const requested = (on_expiry: "return" | "fail" = "return") =>
  ApprovalRequested.of(
    { ...id, approval_id: "v1", key: B, ...terms, on_expiry, workflow_id: "w1", project_id: null },
    approvalText,
  );
const end = { ...id, slot: "s1", forget_at: FORGET };
const completed = RunCompleted.of({ ...end, completion: "explicit" }, { result: { json: "3" } });
const cancelled = RunCancelled.of({ ...end, by: { type: "person", id: "u1" } }, { reason: null });

const ticked = (seen: number, more: Partial<TickResult> = {}): { seen: number; tick: TickResult } => ({
  seen,
  tick: { ...NO_TICK, ...more },
});
const schedules = (keys: string[]) => [
  {
    concurrency: null,
    on_error: "fail" as const,
    steps: keys.map((key) => ({ key, name: "pay", batch: null, index: null, args: { json: "1" } })),
  },
];
const advance = (entries: object[], saw: { seen: number; tick: TickResult } | null = null, epoch = 1) =>
  command("AdvanceRun", {
    ...id,
    epoch,
    seen: saw?.seen ?? 1,
    parts: [{ at: AT, entries, tick: saw?.tick ?? null }],
  });
const completes = (key: string, attempt = 1) => ({
  type: "step_completed",
  key,
  attempt,
  ...spent,
  result: { json: "2" },
  logs: ["hi"],
});
const fails = (key: string, retry_at: string | null, attempt = 1) => ({
  type: "step_attempt_failed",
  key,
  attempt,
  ...spent,
  code: "step_error",
  retry_at,
  ...failure,
});
const take = (more: object = {}) => command("TakeRun", { ...id, epoch: 1, worker: "p2", lost: false, ...more });
const decide = command("DecideApproval", {
  ...id,
  approval_id: "v1",
  decision: "approve" as const,
  by: { type: "person" as const, id: "u1" },
  data: '{"a":1}',
  comment: null,
});
const stateAfter = (...events: RunEvent[]) => events.reduce(run.evolve, run.initial);
const headAfter = (...events: RunEvent[]) => run.workStatus!(stateAfter(...events));

describe("starting a run", () => {
  test("gives it to the handling worker and claims its concurrency slot", () => {
    const start = command("StartRun", { ...fixed, ...words }, { worker: "p1", at: AT });
    given(run).when(start).then(created);
    expect(run.claims!([created]).hold).toEqual([
      { name: "run-slot:s1", rejection: expect.objectContaining({ code: "slot_taken" }) },
    ]);
    expect(headAfter(created)).toEqual({ status: "running", due_at: EXPIRES, worker: "p1" });
  });
  test("happens only once", () =>
    given(run, [created])
      .when(command("StartRun", { ...fixed, ...words }))
      .rejected("run_exists"));
});

describe("a tick", () => {
  test("starts the run, schedules the requested steps and starts them", () => {
    const tick = ticked(1, {
      schedule: schedules([A, B]),
      start: [A],
      notes: [{ key: C, json: "7" }],
      warnings: [{ code: "signal_swallowed", message: "caught", call: "runStep", line: 4 }],
      logs: ["line"],
    });
    given(run, [created])
      .when(advance([], tick))
      .then(
        started,
        ValueNoted.of({ ...id, key: C }, { json: "7" }),
        RunWarned.of({ ...id, code: "signal_swallowed", call: "runStep", line: 4 }, { message: "caught" }),
        RunLogged.of(id, { logs: ["line"] }),
        scheduled([A, B]),
        stepStarted(A),
      );
  });
  test("based on another version is void, while the step results with it are kept", () => {
    given(run, [created, started, scheduled([A]), stepStarted(A)])
      .when(
        advance(
          [completes(A)],
          ticked(3, { end: { type: "completed", completion: "explicit", result: { json: "3" } } }),
        ),
      )
      .then(done(A));
  });
  test("builds on the earlier parts of its command: one commit can schedule, start and complete a step and end the run", () => {
    const end = { type: "completed" as const, completion: "explicit" as const, result: { json: "3" } };
    const parts = [
      { at: AT, entries: [], tick: ticked(1, { schedule: schedules([A]), start: [A] }).tick },
      { at: AT, entries: [completes(A)], tick: null },
      { at: AT, entries: [], tick: ticked(1, { end }).tick },
    ];
    const all = (seen: number) => command("AdvanceRun", { ...id, epoch: 1, seen, parts });
    given(run, [created])
      .when(all(1))
      .then(started, scheduled([A]), stepStarted(A), done(A), completed);
    // nothing that is based on a void tick takes effect
    given(run, [created, started]).when(all(1)).then();
  });
  test("of an older epoch has no effect, and neither have its entries", () => {
    const taken = RunTaken.of({ ...id, epoch: 2, worker: "p2", reason: "lost" });
    given(run, [created, started, taken])
      .when(advance([], ticked(3, { schedule: schedules([A]) })))
      .then();
  });
  test("and the step result that it is based on are one commit", () => {
    const tick = ticked(4, { end: { type: "completed", completion: "explicit", result: { json: "3" } } });
    given(run, [created, started, scheduled([A]), stepStarted(A)])
      .when({ ...advance([completes(A)], tick), at: AT })
      .then(done(A), completed);
    expect(run.claims!([completed]).release).toEqual(["run-slot:s1"]);
  });
  test("without new work parks the run, unless a step still runs", () => {
    const decided = ApprovalDecided.of(
      {
        ...id,
        approval_id: "v1",
        key: B,
        epoch: 1,
        worker: "p1",
        decision: "approve",
        by: { type: "person", id: "u1" },
        at: AT,
      },
      { data: null, comment: null },
    );
    const timer = TimerStarted.of({ ...id, key: C, fires_at: LATER });
    given(run, [created, started, timer, requested(), decided])
      .when(advance([], ticked(5, { timers: [] })))
      .then(RunParked.of(id));
    given(run, [created, started, scheduled([A]), stepStarted(A), requested(), decided])
      .when(advance([], ticked(6)))
      .then();
    expect(headAfter(created, started, timer)).toEqual({ status: "waiting", due_at: LATER, worker: null });
    expect(headAfter(created, started, timer, requested(), decided)).toMatchObject({ status: "running" });
  });
  test("cancels an approval that it no longer requests", () => {
    given(run, [created, started, requested()])
      .when(advance([], ticked(3, { timers: [{ key: C, fires_at: LATER }], superseded: ["v1"] })))
      .then(
        TimerStarted.of({ ...id, key: C, fires_at: LATER }),
        ApprovalCancelled.of({ ...id, approval_id: "v1", key: B, reason: "superseded" }),
      );
  });
  test("with more steps than the workflow allows fails the run", () => {
    const four = ["w", "x", "y", "z"].map((key) => key.repeat(22));
    const failed = RunFailed.of(
      { ...end, code: "too_many_steps", key: null, step: null },
      { error: { message: expect.stringContaining("3 steps") as never, line: null } },
    );
    given(run, [created])
      .when({ ...advance([], ticked(1, { schedule: schedules(four) })), at: AT })
      .then(started, failed);
  });
});

describe("a step", () => {
  const running = [created, started, scheduled([A]), stepStarted(A)];
  test("that fails waits for its next attempt", () => {
    const waits = StepAttemptFailed.of(
      { ...attemptIds(A), at: AT, ...spent, code: "step_error", retry_at: LATER },
      failure,
    );
    given(run, running)
      .when(advance([fails(A, LATER)]))
      .then(waits);
    expect(headAfter(...running, waits)).toMatchObject({ status: "waiting", due_at: LATER });
    given(run, [...running, waits])
      .when(advance([{ type: "step_started", key: A, attempt: 2 }]))
      .then(stepStarted(A, 2));
    given(run, [...running, waits])
      .when(advance([{ type: "step_started", key: A, attempt: 3 }]))
      .then();
  });
  test("that fails finally fails the run with its error", () => {
    given(run, [...running, requested()])
      .when({ ...advance([fails(A, null)]), at: AT })
      .then(
        StepFailed.of({ ...attemptIds(A), at: AT, ...spent, code: "step_error" }, failure),
        ApprovalCancelled.of({ ...id, approval_id: "v1", key: B, reason: "run_ended" }),
        RunFailed.of({ ...end, code: "step_error", key: A, step: "pay" }, { error }),
      );
  });
  test("that fails finally does not fail a run that handles the error", () => {
    given(run, [created, started, scheduled([A], "return"), stepStarted(A)])
      .when(advance([fails(A, null)]))
      .then(StepFailed.of({ ...attemptIds(A), at: AT, ...spent, code: "step_error" }, failure));
  });
  test("ends only once, and only by its running attempt", () => {
    given(run, [...running, done(A)])
      .when(advance([completes(A)]))
      .then();
    given(run, running)
      .when(advance([completes(A, 2)]))
      .then();
    const lease = { epoch: 1, worker: "p1" };
    expect(isRunning(stateAfter(...running), A, 1, lease)).toBe(true);
    expect(isRunning(stateAfter(...running), A, 1, { ...lease, epoch: 2 })).toBe(false);
    // another worker that received the same creation has epoch 1 as well
    expect(isRunning(stateAfter(...running), A, 1, { ...lease, worker: "p2" })).toBe(false);
    expect(isRunning(stateAfter(...running, done(A)), A, 1, lease)).toBe(false);
  });
});

describe("taking a run", () => {
  const running = [created, started, scheduled([A]), stepStarted(A)];
  test("from a lost worker loses its attempts and starts the next epoch", () => {
    const lost = StepAttemptLost.of(attemptIds(A));
    const taken = RunTaken.of({ ...id, epoch: 2, worker: "p2", reason: "lost" });
    given(run, running)
      .when(take({ lost: true }))
      .then(lost, taken);
    given(run, [...running, lost, taken])
      .when(take({ lost: true }))
      .then();
    given(run, [...running, lost, taken])
      .when(advance([{ type: "step_started", key: A, attempt: 2 }], null, 2))
      .then(stepStarted(A, 2, "p2"));
    given(run, [...running, lost, taken])
      .when(advance([fails(A, null, 1)], null, 2))
      .then(
        StepFailed.of({ ...attemptIds(A), at: AT, ...spent, code: "step_error" }, failure),
        RunFailed.of(
          { ...end, forget_at: expect.any(String) as never, code: "step_error", key: A, step: "pay" },
          { error },
        ),
      );
  });
  test("from a live worker is not possible, but due timers and approvals take effect", () => {
    const timer = TimerStarted.of({ ...id, key: C, fires_at: AT });
    given(run, running)
      .when({ ...take(), at: AT })
      .then();
    given(run, [...running, timer])
      .when({ ...take(), at: AT })
      .then(TimerFired.of({ ...id, key: C }));
  });
  test("whose wait is over starts the next epoch", () => {
    const waiting = [created, started, TimerStarted.of({ ...id, key: C, fires_at: AT })];
    given(run, waiting)
      .when({ ...take(), at: AT })
      .then(TimerFired.of({ ...id, key: C }), RunTaken.of({ ...id, epoch: 2, worker: "p2", reason: "woken" }));
    given(run, waiting)
      .when({ ...take(), at: "2025-12-31T23:59:59.999Z" })
      .then();
  });
  test("expires due approvals, and the run continues or fails as it requested", () => {
    const expired = ApprovalExpired.of({ ...id, approval_id: "v1", key: B, at: LATER });
    given(run, [created, started, requested()])
      .when({ ...take(), at: LATER })
      .then(expired, RunTaken.of({ ...id, epoch: 2, worker: "p2", reason: "woken" }));
    given(run, [created, started, requested("fail")])
      .when({ ...take(), at: LATER })
      .then(
        expired,
        RunFailed.of(
          { ...end, forget_at: "2026-01-31T01:00:00.000Z", code: "approval_expired", key: B, step: null },
          { error: { message: "An approval was not decided before it expired.", line: null } },
        ),
      );
  });
  test("reminds of an approval and escalates it, each once, unless it has expired", () => {
    const due = { remind_at: AT, escalate_at: "2026-01-01T00:30:00.000Z" };
    const waiting = ApprovalRequested.of(
      { ...id, approval_id: "v1", key: B, ...terms, ...due, workflow_id: "w1", project_id: null },
      { ...approvalText, assignees: [{ role: "approver" }], escalate_to: [{ role: "owner" }] },
    );
    const about = { ...id, approval_id: "v1", key: B };
    const asks = [created, started, waiting];
    const reminded = ApprovalReminded.of({ ...about, at: AT });
    given(run, asks)
      .when({ ...take(), at: AT })
      .then(reminded);
    const later = "2026-01-01T00:40:00.000Z";
    given(run, asks)
      .when({ ...take(), at: later })
      .then(ApprovalReminded.of({ ...about, at: later }), ApprovalEscalated.of({ ...about, at: later }));
    given(run, [...asks, reminded, ApprovalEscalated.of({ ...about, at: later })])
      .when({ ...take(), at: later })
      .then();
    given(run, asks)
      .when({ ...take(), at: LATER })
      .then(
        ApprovalExpired.of({ ...about, at: LATER }),
        RunTaken.of({ ...id, epoch: 2, worker: "p2", reason: "woken" }),
      );
  });
  test("fails it after its time limit, and after too many lost workers", () => {
    const failed = (code: string, forget_at = FORGET) =>
      RunFailed.of(
        { ...end, forget_at, code, key: null, step: null },
        { error: { message: expect.any(String) as never, line: null } },
      );
    given(run, [created, started])
      .when({ ...take(), at: EXPIRES })
      .then(failed("run_expired", "2026-02-01T00:00:00.000Z"));
    const losses = Array.from({ length: 10 }, (_, n) =>
      RunTaken.of({ ...id, epoch: n + 2, worker: "p1", reason: "lost" }),
    );
    given(run, [created, started, ...losses])
      .when({ ...take({ epoch: 11, lost: true }), at: AT })
      .then(failed("worker_lost"));
  });
  test("without a worker is possible for every worker", () => {
    const unheld = RunCreated.of({ ...fixed, created_at: AT, worker: null }, words);
    given(run, [unheld])
      .when(take())
      .then(RunTaken.of({ ...id, epoch: 2, worker: "p2", reason: "woken" }));
  });
});

describe("deciding an approval", () => {
  const decision = { ...id, approval_id: "v1", key: B, decision: "approve" as const, by: decide.data.by, at: AT };
  const filled = { data: '{"a":1}', comment: null };
  test("wakes a waiting run on the handling worker", () => {
    given(run, [created, started, requested()])
      .when({ ...decide, at: AT, worker: "p9" })
      .then(ApprovalDecided.of({ ...decision, epoch: 2, worker: "p9" }, filled));
  });
  test("leaves an active run with its worker", () => {
    given(run, [created, started, scheduled([A]), stepStarted(A), requested()])
      .when({ ...decide, at: AT, worker: "p9" })
      .then(ApprovalDecided.of({ ...decision, epoch: 1, worker: "p1" }, filled));
  });
  test("appends the worker's progress since the decision, unless another event came in between", () => {
    const decided = ApprovalDecided.of({ ...decision, epoch: 2, worker: "p9" }, filled);
    const parts = [{ at: AT, entries: [], tick: ticked(1, { schedule: schedules([A]), start: [A] }).tick }];
    const withMore = (seen: number) => ({ ...decide, data: { ...decide.data, seen, parts }, at: AT, worker: "p9" });
    given(run, [created, started, requested()])
      .when(withMore(4))
      .then(decided, scheduled([A]), stepStarted(A, 1, "p9"));
    given(run, [created, started, requested()]).when(withMore(3)).then(decided);
  });
  test("hands files to the run, a hundred at most", () => {
    const files = (count: number, from = 0) => Array.from({ length: count }, (_, n) => `f${from + n}`);
    const bringing = (handed: string[]) => ({
      ...decide,
      data: { ...decide.data, files: handed },
      at: AT,
      worker: "p9",
    });
    const withFiles = RunCreated.of({ ...fixed, files: files(85), created_at: AT, worker: "p1" }, words);
    given(run, [withFiles, started, requested()])
      .when(bringing(files(20, 80)))
      .then(ApprovalDecided.of({ ...decision, files: files(20, 80), epoch: 2, worker: "p9" }, filled));
    given(run, [withFiles, started, requested()])
      .when(bringing(files(20, 90)))
      .rejected("too_many_run_files");
  });
  test("is possible only once, before it expires and while the run is live", () => {
    const decided = ApprovalDecided.of({ ...decision, epoch: 2, worker: "p9" }, filled);
    for (const before of [
      [],
      [requested(), decided],
      [requested(), ApprovalCancelled.of({ ...id, approval_id: "v1", key: B, reason: "run_ended" }), cancelled],
    ])
      given(run, [created, started, ...before])
        .when({ ...decide, at: AT })
        .rejected("approval_not_pending");
    given(run, [created, started, requested()])
      .when({ ...decide, at: LATER })
      .rejected("approval_not_pending");
  });
});

describe("the end of a run", () => {
  const cancel = command("CancelRun", { ...id, by: { type: "person" as const, id: "u1" }, reason: null }, { at: AT });
  test("by cancellation cancels its approvals, records running steps and schedules nothing more", () => {
    const before = [created, started, scheduled([A, C]), stepStarted(A), requested()];
    const asks = ApprovalCancelled.of({ ...id, approval_id: "v1", key: B, reason: "run_ended" });
    given(run, before).when(cancel).then(asks, cancelled);
    const after = [...before, asks, cancelled];
    expect(headAfter(...after)).toEqual({ status: "ending", due_at: FORGET, worker: "p1" });
    given(run, after)
      .when(advance([completes(A)], ticked(7, { schedule: schedules([B]) })))
      .then(done(A));
    given(run, after)
      .when(advance([fails(A, LATER)]))
      .then(StepFailed.of({ ...attemptIds(A), at: AT, ...spent, code: "step_error" }, failure));
    given(run, after)
      .when(take({ lost: true }))
      .then(StepAttemptLost.of(attemptIds(A)));
    expect(headAfter(...after, done(A))).toEqual({ status: "waiting", due_at: FORGET, worker: null });
  });
  test("by cancellation happens only once, and not after another end", () => {
    given(run, [created, cancelled]).when(cancel).then();
    given(run, [created, completed]).when(cancel).rejected("run_not_live");
    given(run).when(cancel).rejected("run_not_found");
  });
  test("is followed by the destruction of its data and key when its retention ends", () => {
    const forget = command("ForgetRun", id, { at: FORGET });
    given(run, [created, completed]).when(forget).then(RunForgotten.of(id));
    given(run, [created, completed])
      .when({ ...forget, at: AT })
      .then();
    given(run, [created]).when(forget).then();
    const byRule = command("ForgetRun", { ...id, by_rule: true }, { at: AT });
    given(run, [created, completed]).when(byRule).then(RunForgotten.of(id));
    given(run, [created]).when(byRule).then();
    // a step that was running when the run was cancelled may still save a file
    const step = [created, started, scheduled([A]), stepStarted(A), cancelled];
    given(run, step).when(byRule).then();
    given(run, [...step, done(A)])
      .when(byRule)
      .then(RunForgotten.of(id));
    const rated = { ...created, data: { ...created.data, start_place: "p" } };
    const withPlace = RunForgotten.of({ ...id, start_place: "p" });
    given(run, [rated, completed]).when(forget).then(withPlace);
    expect(run.claims!([rated]).hold.map(({ name }) => name)).toContain("run-start:p");
    expect(run.claims!([withPlace]).release).toEqual(["run-start:p"]);
    // while a hold keeps it, the sweep looks again later
    const keep = command("KeepRun", id, { at: FORGET });
    const kept = RunKept.of({ ...id, forget_at: new Date(Date.parse(FORGET) + 24 * 3_600_000).toISOString() });
    given(run, [created, completed]).when(keep).then(kept);
    given(run, [created, completed, kept]).when(forget).then();
    given(run, [created]).when(keep).then();
    expect(run.erases!([RunForgotten.of(id)], "run-r1")).toEqual({ things: ["run-r1"] });
    expect(headAfter(created, completed, RunForgotten.of(id)).status).toBeNull();
  });
  test("by a coordinator that cannot continue records the reason, if it still holds the run", () => {
    const fail = (epoch: number) =>
      command("FailRun", { ...id, epoch, code: "definition_gone", error: { message: "gone", line: null } }, { at: AT });
    const failed = RunFailed.of(
      { ...end, code: "definition_gone", key: null, step: null },
      { error: { message: "gone", line: null } },
    );
    given(run, [created]).when(fail(1)).then(failed);
    given(run, [created]).when(fail(2)).then();
  });
});
