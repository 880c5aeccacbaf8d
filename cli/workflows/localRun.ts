import { approvalId, newId } from "#events/ids.ts";
import { timedOutAnswer, type CallAnswer } from "#events/inheritedCalls.ts";
import {
  StepFailure,
  type MemoEntry,
  type PendingCall,
  type PendingStep,
  type TickOutcome,
  type TracedCall,
} from "#services/workflows/tick.ts";
import { Problem } from "../problem.ts";
import type { ApprovalAnswer, RunAnswer } from "./answers.ts";
import { LOCAL, type LocalSandbox, type LocalScript } from "./loadScript.ts";

export interface Place {
  line: number | null;
  column: number | null;
}

/** A call of `run()`, as a timeline shows it and a test expects it. */
export type LocalCall =
  | { kind: "step"; name: string; args: unknown; at: Place }
  | { kind: "approval"; name: string; title: string; at: Place }
  | { kind: "child"; name: string; args: unknown; at: Place }
  | { kind: "runWait"; name: string; at: Place }
  | { kind: "timer"; until: string; at: Place };

export type ApprovalCall = Extract<PendingCall, { kind: "approval" }>;

/** Answers the calls of a local run. */
export interface Answerer {
  /** JSON of the result. Throws StepFailure when the step has failed, and Problem when it has no answer. */
  step(step: PendingStep, at: Place): Promise<string>;
  /** Throws Problem. */
  approval(call: ApprovalCall, at: Place): Promise<ApprovalAnswer>;
  /** The end of a run, by the name of its workflow or by its id. Throws Problem. */
  run(name: string, at: Place): Promise<RunAnswer>;
}

export interface LocalObserver {
  onCall(call: LocalCall): void;
  onAnswer(call: LocalCall, answer: CallAnswer): void;
  onLog(line: string): void;
}

export type LocalEnd =
  | { type: "completed"; result: unknown }
  | { type: "failed"; code: string; message: string; step: string | null; at: Place };

export interface LocalRun {
  script: LocalScript;
  /** JSON. */
  args: string;
  headers: Record<string, string>;
  /** RFC 3339. */
  now: string;
  answerer: Answerer;
  observer: LocalObserver;
}

type Timer = Extract<PendingCall, { kind: "timer" }>;
type Wait = Extract<PendingCall, { kind: "messageWait" }> & { timeout_ms: number };
const isTimedWait = (call: PendingCall): call is Wait => call.kind === "messageWait" && call.timeout_ms !== null;
/** Ticks of one run: a loop without an end must not run for ever. */
const MAX_TICKS = 10_000;

const NO_PLACE: Place = { line: null, column: null };
const failedAt = (code: string, message: string, step: string | null, at: Place): LocalEnd => ({
  type: "failed",
  code,
  message,
  step,
  at,
});

/** JSON of what `awaitApproval` returns. */
function approvalResult({ key, options }: ApprovalCall, answer: ApprovalAnswer, now: number, run_id: string): string {
  const { decision, data, comment, by } = answer;
  const decided = { approval_id: approvalId(run_id, key), decided_at: new Date(now).toISOString() };
  if (decision === "expire") {
    const status = options.on_expiry === "reject" ? "rejected" : "expired";
    return JSON.stringify({ approved: false, status, data: null, comment: null, decided_by: null, ...decided });
  }
  const approved = decision === "approve";
  const decided_by = { type: "person", id: by };
  return JSON.stringify({
    approved,
    status: approved ? "approved" : "rejected",
    data,
    comment,
    decided_by,
    ...decided,
  });
}

interface RunState extends LocalRun {
  runner: LocalSandbox["runner"];
  run_id: string;
  memo: MemoEntry[];
  created_at: number;
  /** Epoch milliseconds: waiting moves it. */
  time: number;
  /** Number of log lines that were shown. */
  logged: number;
  /** Of the calls of the last tick, by key. */
  places: Map<string, Place>;
  /** Names of the workflows of started runs, by run. */
  children: Map<string, string>;
}

const placeOf = ({ places }: RunState, key: string): Place => places.get(key) ?? NO_PLACE;

async function tick(state: RunState): Promise<TickOutcome> {
  const { script, run_id, args, headers, created_at, time: now, memo, observer } = state;
  const { js, sha256 } = script;
  const call = { organization_id: LOCAL, run_id, js, sha256, args, headers, created_at, now, memo };
  const outcome = await state.runner.tick({ ...call, trace: true });
  state.places = new Map((outcome.calls ?? []).map(({ key, ...place }: TracedCall) => [key, place]));
  outcome.logs.slice(state.logged).forEach((line) => observer.onLog(line));
  state.logged = outcome.logs.length;
  for (const { key, json } of outcome.notes) memo.push({ key, value: { json } });
  return outcome;
}

function answer({ memo, observer }: RunState, call: LocalCall, key: string, value: CallAnswer): void {
  memo.push({ key, value });
  observer.onAnswer(call, value);
}

/** The end of the run when the step has failed and `run()` does not want its error. */
async function answerStep(state: RunState, step: PendingStep, mode: "fail" | "return"): Promise<LocalEnd | undefined> {
  const at = placeOf(state, step.key);
  const call: LocalCall = { kind: "step", name: step.name, args: JSON.parse(step.args), at };
  state.observer.onCall(call);
  try {
    answer(state, call, step.key, { json: await state.answerer.step(step, at) });
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error;
    const { code, message, line, column } = error;
    answer(state, call, step.key, { error: { code, message } });
    if (mode === "fail") return failedAt(code, message, step.name, line === null ? at : { line, column });
  }
  return undefined;
}

async function answerApproval(state: RunState, call: ApprovalCall): Promise<LocalEnd | undefined> {
  const at = placeOf(state, call.key);
  const shown: LocalCall = { kind: "approval", name: call.name, title: call.options.title, at };
  state.observer.onCall(shown);
  const given = await state.answerer.approval(call, at);
  answer(state, shown, call.key, { json: approvalResult(call, given, state.time, state.run_id) });
  if (given.decision !== "expire" || call.options.on_expiry !== "fail") return undefined;
  return failedAt("approval_expired", "An approval was not decided before it expired.", null, at);
}

/** A run that is started does nothing here; it ends when it is waited for. */
function answerStart(state: RunState, { key, workflow, args }: Extract<PendingCall, { kind: "child" }>): void {
  const run_id = newId();
  state.children.set(run_id, workflow);
  const call: LocalCall = { kind: "child", name: workflow, args: JSON.parse(args), at: placeOf(state, key) };
  state.observer.onCall(call);
  answer(state, call, key, { json: JSON.stringify({ run_id }) });
}

async function answerWait(state: RunState, { key, run_id }: Extract<PendingCall, { kind: "runWait" }>) {
  const at = placeOf(state, key);
  const name = state.children.get(run_id) ?? run_id;
  const call: LocalCall = { kind: "runWait", name, at };
  state.observer.onCall(call);
  answer(state, call, key, { json: JSON.stringify({ run_id, ...(await state.answerer.run(name, at)) }) });
}

/** The time that it waits for is the time of all that follows. */
function answerTimer(state: RunState, { key, until }: Timer): void {
  state.time = Math.max(state.time, "at" in until ? Date.parse(until.at) : state.time + until.in_ms);
  const call: LocalCall = { kind: "timer", until: new Date(state.time).toISOString(), at: placeOf(state, key) };
  state.observer.onCall(call);
  answer(state, call, key, { json: "null" });
}

/** Nobody sends events here: a wait for them takes until its timeout. */
function timeOutWait(state: RunState, wait: Wait): void {
  state.time += wait.timeout_ms;
  const { key } = wait;
  const call: LocalCall = { kind: "timer", until: new Date(state.time).toISOString(), at: placeOf(state, key) };
  state.observer.onCall(call);
  answer(state, call, key, { json: timedOutAnswer(undefined) });
}

/** Steps are answered first, then people, then other runs, then time passes. Throws Problem. */
async function answerNext(state: RunState, asked: PendingCall[]): Promise<LocalEnd | undefined> {
  const steps = asked.filter((call) => call.kind === "steps");
  const starts = asked.filter((call) => call.kind === "child");
  for (const start of starts) answerStart(state, start);
  for (const call of steps)
    for (const step of call.steps) {
      const end = await answerStep(state, step, call.on_error);
      if (end) return end;
    }
  if (steps.length + starts.length > 0) return undefined;
  const approval = asked.find((call) => call.kind === "approval");
  if (approval) return answerApproval(state, approval);
  const wait = asked.find((call) => call.kind === "runWait");
  if (wait) {
    await answerWait(state, wait);
    return undefined;
  }
  const timer = asked.find((call) => call.kind === "timer");
  const timed = timer ? undefined : asked.find(isTimedWait);
  if (timed) {
    timeOutWait(state, timed);
    return undefined;
  }
  if (!timer) {
    const kind = (asked[0] as { kind: string } | undefined)?.kind ?? "nothing";
    throw new Problem(`${state.script.file}: run() waits for ${kind}`, "try this workflow with a service");
  }
  answerTimer(state, timer);
  return undefined;
}

/**
 * Runs a workflow on this machine: `run()` in the sandbox, its calls answered by an answerer. Waiting takes no time.
 * Throws Problem when a call has no answer.
 */
export async function runLocally({ runner }: Pick<LocalSandbox, "runner">, run: LocalRun): Promise<LocalEnd> {
  const created_at = Date.parse(run.now);
  const start = {
    run_id: newId(),
    memo: [],
    created_at,
    time: created_at,
    logged: 0,
    places: new Map(),
    children: new Map(),
  };
  const state: RunState = { ...run, runner, ...start };
  for (let n = 0; n < MAX_TICKS; n++) {
    const { end, asked } = await tick(state);
    if (end.type === "completed") return { type: "completed", result: JSON.parse(end.json) as unknown };
    if (end.type === "failed") return failedAt(end.code, end.message, null, { line: end.line, column: end.column });
    const ended = await answerNext(state, asked);
    if (ended) return ended;
  }
  const what = `${run.script.file}: run() has not ended after ${MAX_TICKS} ticks`;
  throw new Problem(what, "look for a loop without an end");
}
