import { expect, test } from "vitest";
import { liveRun } from "#test/samples.ts";
import type { LiveRun, OpenStep, RunState } from "../deciders/runState.ts";
import { nextAction, type RunSnapshot } from "./nextAction.ts";

const NOW = Date.parse("2026-01-01T00:00:00.000Z");
const after = (ms: number): string => new Date(NOW + ms).toISOString();
const DAY_MS = 86_400_000;

const step = (status: OpenStep["status"], retry_at: string | null = null): OpenStep => ({
  key: "a",
  name: "work",
  status,
  attempt: 1,
  lost: 0,
  retry_at,
  on_error: "fail",
});
const live = (fields: Partial<LiveRun> = {}) => liveRun({ version: 3, expires_at: after(DAY_MS), ...fields });
const ended: RunState = {
  status: "completed",
  version: 9,
  epoch: 1,
  worker: "w1",
  workflow_id: "wf",
  slot: null,
  project_id: null,
  first_run_id: null,
  settling: null,
  steps: [],
  forget_at: after(DAY_MS),
};
const child = (status: "requested" | "started") => ({ key: "c", run_id: "r2", status, isCancelled: true });
const wait = (isRegistered: boolean) => ({ awaited_run_id: "r2", expires_at: null, isRegistered });
const running = live({ steps: [step("running")] });
const entry = { type: "step_started", key: "a", attempt: 1 } as const;

const snapshot = (fields: Partial<RunSnapshot>): RunSnapshot => ({
  state: running,
  needsTick: false,
  stateSize: 0,
  running: 0,
  finished: 0,
  unrecorded: 0,
  isUrgent: false,
  isStopping: false,
  isRoomWanted: false,
  startable: () => [],
  ...fields,
});
const TOO_LARGE = 32 * 1024 * 1024 + 1;

test.each<[string, Partial<RunSnapshot>, object]>([
  ["reports finished attempts before all else", { finished: 1, needsTick: true, isUrgent: true }, { type: "report" }],
  ["records a hundred parts before it reports more", { finished: 1, unrecorded: 100 }, { type: "flush", wait: true }],
  ["ticks between a report and its commit", { needsTick: true, unrecorded: 100, isUrgent: true }, { type: "tick" }],
  ["ticks when only waiting is left and the state does not say so", { state: live({ woken: true }) }, { type: "tick" }],
  [
    "does not tick while a step runs",
    { state: live({ woken: true, steps: running.steps }), running: 1 },
    { type: "sleep" },
  ],
  ["fails a run with too much data", { needsTick: true, stateSize: TOO_LARGE }, { type: "failTooLarge" }],
  ["starts steps", { startable: () => [entry], isUrgent: true }, { type: "start", entries: [entry] }],
  [
    "starts a child run that was requested, after the steps",
    { state: live({ children: [child("requested")] }), isUrgent: true },
    { type: "startLinks" },
  ],
  [
    "registers a wait for a run",
    { state: live({ waits: { w: wait(false) } }), running: 1, unrecorded: 1 },
    { type: "startLinks" },
  ],
  [
    "leaves a run whose child runs have started and whose waits are registered",
    { state: live({ children: [child("started")], waits: { w: wait(true) } }) },
    { type: "leave" },
  ],
  [
    "waits for the near end of a wait",
    { state: live({ waits: { w: { ...wait(true), expires_at: after(20) } } }) },
    { type: "sleep", ms: 20, poll: true },
  ],
  [
    "starts no child run when it stops",
    { isStopping: true, state: live({ children: [child("requested")] }) },
    { type: "leave" },
  ],
  ["records effects at once, and continues meanwhile", { isUrgent: true, running: 1 }, { type: "flush", wait: false }],
  ["records everything when no attempt runs", { unrecorded: 1 }, { type: "flush", wait: true }],
  ["lets parts wait for others while an attempt runs", { unrecorded: 1, running: 1 }, { type: "sleep", poll: true }],
  [
    "waits for the attempts of an ended run",
    { state: ended, running: 1, needsTick: true },
    { type: "sleep", poll: false },
  ],
  ["records the results of an ended run", { state: ended, unrecorded: 1 }, { type: "flush", wait: true }],
  ["leaves an ended run", { state: ended, needsTick: true }, { type: "leave" }],
  [
    "waits for its attempts when it stops",
    { isStopping: true, running: 1, needsTick: true },
    { type: "sleep", poll: false },
  ],
  ["starts nothing when it stops", { isStopping: true, startable: () => [entry] }, { type: "leave" }],
  ["fires a timer that is due", { state: live({ timers: { t: after(0) } }) }, { type: "fireTimers" }],
  [
    "fires a timer that is due while a step runs",
    { state: live({ ...running, timers: { t: after(-1) } }), running: 1 },
    { type: "fireTimers" },
  ],
  ["waits for a near timer", { state: live({ timers: { t: after(60_000) } }) }, { type: "sleep", ms: 500, poll: true }],
  [
    "waits no longer than the next timer",
    { state: live({ timers: { t: after(20) } }) },
    { type: "sleep", ms: 20, poll: true },
  ],
  [
    "waits 1 ms at least",
    { state: live({ steps: [step("waiting", after(0))] }) },
    { type: "sleep", ms: 1, poll: true },
  ],
  ["leaves a run that waits for a far timer", { state: live({ timers: { t: after(60_001) } }) }, { type: "leave" }],
  ["waits for a near timer", { state: live({ timers: { t: after(1_001) } }) }, { type: "sleep", ms: 500, poll: true }],
  [
    "leaves a run that waits for a near timer while others wait for its memory",
    { isRoomWanted: true, state: live({ timers: { t: after(1_001) } }) },
    { type: "leave" },
  ],
  [
    "waits for a timer of the next second although others wait for its memory",
    { isRoomWanted: true, state: live({ timers: { t: after(999) } }) },
    { type: "sleep", ms: 500, poll: true },
  ],
  ["leaves a run that waits for a decision", { state: live() }, { type: "leave" }],
  ["keeps a run with a queued step", { state: live({ steps: [step("queued")] }) }, { type: "sleep", poll: true }],
])("the coordinator of a run %s", (_, run, action) => {
  expect(nextAction(snapshot(run), NOW)).toMatchObject(action);
});
