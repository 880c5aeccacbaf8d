import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { NewEvent } from "#events/define.ts";
import type { RecordedEvent } from "#events/envelope.ts";
import { Rejection } from "#events/rejection.ts";
import { approvalId, stepId } from "#events/ids.ts";
import type { RunEvent } from "#events/run.ts";
import type { TickResult } from "#events/runParts.ts";
import { RunLimits } from "#events/workflow.ts";
import { run } from "#services/deciders/run.ts";
import { isEnded, isLive as lives, type RunState } from "#services/deciders/runState.ts";
import { command } from "#test/given.ts";
import { longestTurn } from "#test/computingTime.ts";
import { AT, manyAttempts } from "#test/doubles/runInMemory.ts";
import { NO_TICK } from "#test/noTick.ts";
import { foldCalls } from "./foldCalls.ts";
import { foldRun, listRunningSteps, type RunView } from "./foldRun.ts";
import { openWaits, type WaitView } from "./foldWaits.ts";
import { presentOpenWaits } from "./waitShape.ts";

const RUN = "0198c0de-0000-7000-8000-00000000000a";
const START = Date.parse("2026-01-01T00:00:00.000Z");
const keyOf = (n: number) => `key${n}`.padEnd(22, "_");

/** A run that the real decider decides: commands in, recorded events out. */
function openRun() {
  let state: RunState = run.initial;
  let commands = 0;
  let now = START;
  const events: RecordedEvent<RunEvent>[] = [];

  function send(type: string, data: object): boolean {
    const command_id = `c${commands++}`;
    const at = new Date(now).toISOString();
    let decided: NewEvent[];
    try {
      decided = run.decide(command(type, { run_id: RUN, ...data }, { at, request_id: "p1" }) as never, state);
    } catch (error) {
      if (error instanceof Rejection) return false;
      throw error;
    }
    for (const event of decided as RunEvent[]) {
      state = run.evolve(state, event);
      events.push({
        ...event,
        position: events.length + 1,
        version: events.length + 1,
        stream: `run-${RUN}`,
        organization_id: "o1",
        personal: event.personal,
        command_id,
        recorded_at: new Date(now),
        meta: { principal: "system", request_id: "r" },
      });
    }
    return true;
  }
  const epoch = () => (lives(state) || isEnded(state) ? state.epoch : 1);
  const advance = (part: object) =>
    send("AdvanceRun", {
      epoch: epoch(),
      seen: events.length,
      parts: [{ at: new Date(now).toISOString(), ...part }],
    });
  send("StartRun", {
    workflow_id: "w1",
    definition_id: "d1",
    definition_version: 1,
    project_id: null,
    trigger_id: null,
    started_by: { type: "system", id: "s" },
    run_as: { type: "service", id: null },
    limits: RunLimits.parse({ max_steps: 10_000 }),
    expires_at: new Date(START + 86_400_000).toISOString(),
    retention_days: 1,
    approvals: { default_expiry_s: 60, allow_api_key: true },
    slot: null,
    args: { json: '{"a":1}' },
    external_user_id: "u",
  });
  return {
    events,
    send,
    epoch,
    state: () => state,
    pass: (ms: number) => void (now += ms),
    later: (ms: number) => new Date(now + ms).toISOString(),
    tick: (tick: Partial<TickResult>) => advance({ entries: [], tick: { ...NO_TICK, ...tick } }),
    entry: (entry: object) => advance({ entries: [entry], tick: null }),
  };
}
type OpenRun = ReturnType<typeof openRun>;

const steps = (keys: string[], on_error: "fail" | "return" = "return"): TickResult["schedule"] => [
  {
    concurrency: null,
    on_error,
    steps: keys.map((key, index) => ({ key, name: "pay", batch: null, index, args: { json: "1" } })),
  },
];
const started = (key: string, attempt = 1) => ({ type: "step_started", key, attempt });
const attemptEnd = { duration_ms: 5, secrets: [], logs: ["said"] };
const completed = (key: string, attempt = 1) => ({
  type: "step_completed",
  key,
  attempt,
  ...attemptEnd,
  result: { json: "2" },
});
const failed = (key: string, retry_at: string | null, attempt = 1) => ({
  type: "step_attempt_failed",
  key,
  attempt,
  ...attemptEnd,
  code: "step_error",
  retry_at,
  error: { message: "no", line: null },
});
const approvals = (key: string, expires_at: string, on_expiry: "return" | "fail"): TickResult["approvals"] => [
  {
    key,
    approval_id: approvalId(RUN, key),
    name: "boss",
    title: "Pay?",
    body: null,
    form: null,
    assignees: [],
    self_approval: true,
    allow_api_key: true,
    expires_at,
    on_expiry,
  },
];

const openSteps = (state: RunState) => (lives(state) || isEnded(state) ? state.steps : []);

/** What can happen to a run. The number chooses the details. */
const ACTIONS: ((on: OpenRun, n: number) => unknown)[] = [
  (on, n) => on.tick({ schedule: steps([keyOf(on.events.length)], n % 2 ? "fail" : "return") }),
  (on, n) => {
    const keys = [0, 1, 2].map((of) => keyOf(on.events.length * 10 + of + 1_000));
    on.tick({ schedule: steps(keys), start: keys.slice(0, n % 4) });
  },
  (on, n) => on.tick({ timers: [{ key: keyOf(on.events.length), fires_at: on.later(n * 1_000) }] }),
  (on, n) =>
    on.tick({
      runWaits: [{ key: keyOf(on.events.length), awaited_run_id: RUN, expires_at: n % 2 ? on.later(n * 1_000) : null }],
    }),
  (on) =>
    on.tick({ messageWaits: [{ key: keyOf(on.events.length), name: "paid", match: {}, expires_at: on.later(5_000) }] }),
  (on, n) => {
    const state = on.state();
    const keys = lives(state) ? Object.keys(state.waits) : [];
    on.send("DeliverMessage", { key: keys[n % keys.length] ?? "none", message_id: RUN, answer: { json: "{}" } });
  },
  (on) => on.send("AnswerRunWaits", { awaited_run_id: RUN, answer: { json: "{}" } }),
  (on, n) =>
    on.tick({ approvals: approvals(keyOf(on.events.length), on.later(n * 1_000 + 1), n % 5 ? "return" : "fail") }),
  (on, n) => {
    const waiting = openSteps(on.state()).filter(({ status }) => status !== "running");
    const step = waiting[n % waiting.length];
    if (step) on.entry(started(step.key, step.attempt + 1));
  },
  (on, n) => {
    const running = openSteps(on.state()).filter(({ status }) => status === "running");
    const step = running[n % running.length];
    if (!step) return;
    const ends = [
      completed(step.key, step.attempt),
      failed(step.key, on.later(1_000), step.attempt),
      failed(step.key, null, step.attempt),
    ];
    on.entry(ends[n % 7] ?? ends[0]!);
  },
  (on, n) => {
    const state = on.state();
    const ids = lives(state) ? Object.keys(state.approvals) : [];
    const by = { type: "person", id: "p" };
    const decision = n % 2 ? "approve" : "reject";
    on.send("DecideApproval", { approval_id: ids[n % ids.length] ?? "none", decision, by, data: null, comment: null });
  },
  (on, n) => {
    on.pass(n * 500);
    on.send("TakeRun", { epoch: on.epoch(), worker: "p1", lost: n % 3 === 0 });
  },
  (on, n) => n % 8 === 0 && on.send("CancelRun", { by: { type: "person", id: "p" }, reason: null }),
  (on, n) => n % 8 === 0 && on.tick({ end: { type: "completed", completion: "explicit", result: { json: '"end"' } } }),
];
const actions = fc.array(fc.tuple(fc.nat(ACTIONS.length - 1), fc.nat(20)), { maxLength: 60 });

const STATUS = { queued: "scheduled", running: "running", waiting: "retry_wait" } as const;
const sorted = (texts: Iterable<string>) => [...texts].sort();
const openIds = ({ waits }: RunView, wanted: WaitView["type"]): string[] =>
  sorted(
    openWaits(waits)
      .filter(({ type }) => type === wanted)
      .map(({ approval_id, key }) => approval_id ?? key),
  );

describe("a run folded from its events", () => {
  test("agrees with the state of the decider, whatever has happened", async () => {
    await fc.assert(
      fc.asyncProperty(actions, async (list) => {
        const on = openRun();
        for (const [action, n] of list) ACTIONS[action]!(on, n);
        const state = on.state();
        if (!lives(state) && !isEnded(state)) throw new Error("the run is gone");
        const view = await foldRun(on.events);

        expect(view.status).toBe(state.status);
        expect(view.version).toBe(state.version);
        const count = (type: RunEvent["type"]) => on.events.filter((event) => event.type === type).length;
        expect(view.attempts).toBe(count("StepStarted"));
        const all = [...view.steps.values()];
        expect(all.flatMap(({ attempts }) => attempts).length).toBe(view.attempts);
        for (const step of all) expect(step.attempts.map(({ n }) => n)).toEqual(step.attempts.map((_, n) => n + 1));

        const open = openSteps(state);
        if (lives(state)) {
          const unfinished = all.filter(({ completed_at }) => completed_at === null);
          expect(sorted(unfinished.map(({ key, status }) => `${key} ${status}`))).toEqual(
            sorted(open.map(({ key, status }) => `${key} ${STATUS[status]}`)),
          );
          for (const { key, attempt } of open) expect(view.steps.get(key)!.attempts.length).toBe(attempt);
          expect(openIds(view, "approval")).toEqual(sorted(Object.keys(state.approvals)));
          expect(openIds(view, "timer")).toEqual(sorted(Object.keys(state.timers)));
          expect(presentOpenWaits(view).length).toBe(
            open.length +
              Object.keys(state.approvals).length +
              Object.keys(state.timers).length +
              Object.keys(state.waits).length,
          );
        } else {
          expect(sorted(listRunningSteps(view).map(({ key }) => key))).toEqual(sorted(open.map(({ key }) => key)));
          expect(all.filter(({ status }) => status === "scheduled" || status === "retry_wait")).toEqual([]);
          expect(presentOpenWaits(view)).toEqual([]);
          expect(view.completed_at).toBeInstanceOf(Date);
        }
        // the fold does not change its input
        const frozen = on.events.map((event) => Object.freeze({ ...event, data: Object.freeze({ ...event.data }) }));
        expect(await foldRun(frozen as RecordedEvent[])).toEqual(view);
      }),
      { numRuns: 300 },
    );
  });

  test("has the attempts of a step, and the failure of the run when the step fails", async () => {
    const on = openRun();
    const key = keyOf(1);
    on.tick({ schedule: steps([key], "fail"), start: [key] });
    on.pass(1_000);
    const retry_at = on.later(500);
    on.entry(failed(key, retry_at));
    const waiting = await foldRun(on.events);
    expect(presentOpenWaits(waiting)).toEqual([
      { type: "step", id: stepId(RUN, key), name: "pay", attempt: 1, next_attempt_at: retry_at },
    ]);
    on.pass(500);
    on.entry(started(key, 2));
    on.entry(failed(key, null, 2));
    const view = await foldRun(on.events);
    const at = (ms: number) => new Date(START + ms);
    expect(view).toMatchObject({
      status: "failed",
      error: "no",
      error_info: { code: "step_error", step_id: stepId(RUN, key), step: "pay", attempt: 2 },
      started_at: at(0),
      completed_at: at(1_500),
      ticks: 1,
      attempts: 2,
      result: null,
      external_user_id: "u",
      args: { json: '{"a":1}' },
    });
    expect(view.steps.get(key)).toMatchObject({
      status: "failed",
      error: "no",
      next_attempt_at: null,
      completed_at: at(1_500),
      attempts: [
        { n: 1, status: "failed", started_at: at(0), ended_at: at(1_000), error: "no", logs: ["said"] },
        { n: 2, status: "failed", started_at: at(1_500), ended_at: at(1_500), error: "no", logs: ["said"] },
      ],
    });
  });

  test("has warnings and log lines of run() with the tick they came in", async () => {
    const on = openRun();
    const warned = { code: "signal_swallowed" as const, message: "caught", call: "pay", line: 3 };
    on.tick({ schedule: steps([keyOf(1)]), logs: ["first"] });
    on.entry(started(keyOf(1)));
    on.entry(completed(keyOf(1)));
    on.tick({
      warnings: [warned],
      logs: ["second"],
      end: { type: "completed", completion: "implicit", result: { json: "1" } },
    });
    expect(await foldRun(on.events)).toMatchObject({
      ticks: 2,
      logs: [
        { tick: 1, text: "first" },
        { tick: 2, text: "second" },
      ],
      warnings: [{ code: "signal_swallowed", message: "caught", step: "pay", line: 3, tick: 2 }],
      completion: "implicit",
      result: { json: "1" },
    });
  });

  test("counts each tick once, however many were recorded together", async () => {
    const on = openRun();
    const keys = Array.from({ length: 6 }, (_, n) => keyOf(n + 1));
    for (const [n, key] of keys.entries()) {
      const retry_at = on.later(0);
      on.tick({ schedule: steps([key]), start: [key], logs: n % 2 ? [`before ${n}`] : [] });
      if (n === 3) {
        on.entry(failed(key, retry_at));
        on.entry(started(key, 2));
      }
      on.entry(completed(key, n === 3 ? 2 : 1));
    }
    on.tick({ logs: ["end"], end: { type: "completed", completion: "implicit", result: { json: "1" } } });
    const view = await foldRun(on.events);
    expect([view.ticks, view.logs.map(({ tick }) => tick)]).toEqual([7, [2, 4, 6, 7]]);
    expect(await foldRun(on.events.map((event) => ({ ...event, command_id: "c0" })))).toEqual(view);
  });

  test("counts a tick that cancels an approval as one", async () => {
    const on = openRun();
    on.tick({ approvals: approvals(keyOf(1), on.later(9), "return") });
    on.tick({
      approvals: approvals(keyOf(2), on.later(9), "return"),
      superseded: [approvalId(RUN, keyOf(1))],
      schedule: steps([keyOf(3)]),
      start: [keyOf(3)],
    });
    on.entry(completed(keyOf(3)));
    // the second approval is still open when the run ends
    on.tick({ logs: ["end"], end: { type: "completed", completion: "implicit", result: { json: "1" } } });
    expect(await foldRun(on.events)).toMatchObject({ status: "completed", ticks: 3, logs: [{ tick: 3, text: "end" }] });
  });

  test("has the public fields when the personal ones were erased while it was read", async () => {
    const on = openRun();
    on.tick({ schedule: steps([keyOf(1)]), start: [keyOf(1)], approvals: approvals(keyOf(2), on.later(9), "return") });
    on.entry(completed(keyOf(1)));
    on.tick({ end: { type: "failed", code: "run_error", step: null, error: { message: "secret", line: null } } });
    const view = await foldRun(on.events.map((event) => ({ ...event, personal: undefined })));
    expect(view).toMatchObject({ status: "failed", error: null, args: null, external_user_id: null });
    expect(view.steps.get(keyOf(1))).toMatchObject({ status: "completed", args: null, result: null });
  });

  test.each([999, 1_000, 1_001, 10_000])("has all of %s steps", async (many) => {
    const on = openRun();
    const keys = Array.from({ length: many }, (_, n) => keyOf(n));
    on.tick({ schedule: steps(keys) });
    const scheduled = on.events.at(-1)!;
    // recorded without the decider, which copies all open steps with each event
    const record = (type: RunEvent["type"], data: object, personal?: object) =>
      void on.events.push({
        ...scheduled,
        type,
        data,
        personal,
        version: on.events.length + 1,
      } as RecordedEvent<RunEvent>);
    for (const key of keys) {
      const of = { run_id: RUN, key, name: "pay", attempt: 1 };
      record("StepStarted", { ...of, worker: "p1" });
      record("StepCompleted", { ...of, duration_ms: 1, secrets: [] }, { result: { json: "2" }, logs: [] });
    }
    const view = await foldRun(on.events);
    expect([view.steps.size, view.attempts, presentOpenWaits(view)]).toEqual([many, many, []]);
    expect([...view.steps.values()].every(({ status }) => status === "completed")).toBe(true);
  });
});

test("a run of 60,000 events is folded in parts, between which other work runs", async () => {
  const events = manyAttempts(10).map((event, n) => ({
    ...event,
    version: n + 1,
    position: n + 1,
    command_id: `c${n}`,
    recorded_at: new Date(AT),
  })) as unknown as RecordedEvent[];
  let view: RunView | undefined;
  expect(await longestTurn(async () => (view = await foldRun(events)))).toBeLessThan(40);
  expect([view!.steps.size, view!.attempts]).toEqual([10_000, 30_000]);
  let calls: unknown[] = [];
  expect(await longestTurn(async () => (calls = await foldCalls(events, [])))).toBeLessThan(40);
  expect(calls).toHaveLength(10_000);
});
