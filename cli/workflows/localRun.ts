import { newId } from "#events/ids.ts";
import {
  StepFailure,
  type PendingCall,
  type PendingStep,
  type TickOutcome,
  type TracedCall,
} from "#services/workflows/tick.ts";
import { CliError } from "../cliError.ts";
import type { ApprovalCall, LocalCall, LocalEnd } from "./localCalls.ts";
import { LOCAL_ORGANIZATION, type LocalSandbox } from "./loadScript.ts";
import { approvalResult } from "./localApprovals.ts";
import { failedAt, recordAnswer, placeOf, type LocalRun, type RunState } from "./localState.ts";
import { answerAgent, answerEvent, answerTimed, answerWait, fixDueTimes } from "./localWaits.ts";

/** Maximum ticks of one run, which stops endless loops. */
const MAX_TICKS = 10_000;

async function tick(state: RunState): Promise<TickOutcome> {
  const { script, run_id, args, headers, created_at, time: now, memo, observer } = state;
  const { js, sha256, ordered } = script;
  const call = { organization_id: LOCAL_ORGANIZATION, run_id, js, sha256, args, headers, created_at, now, memo };
  const outcome = await state.runner.tick({ ...call, ordered, trace: true });
  state.places = new Map((outcome.calls ?? []).map(({ key, ...place }: TracedCall) => [key, place]));
  outcome.logs.slice(state.logged).forEach((line) => observer.onLog(line));
  state.logged = outcome.logs.length;
  for (const { key, json } of outcome.notes) memo.push({ key, value: { json } });
  return outcome;
}

/** The end of the run if the step has failed and `run()` does not handle its error. */
async function answerStep(state: RunState, step: PendingStep, mode: "fail" | "return"): Promise<LocalEnd | undefined> {
  const at = placeOf(state, step.key);
  const call: LocalCall = { kind: "step", name: step.name, args: JSON.parse(step.args), at };
  state.observer.onCall(call);
  try {
    recordAnswer(state, call, step.key, { json: await state.answerer.step(step, at, state.run_id) });
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error;
    const { code, message, line, column } = error;
    recordAnswer(state, call, step.key, { error: { code, message } });
    if (mode === "fail") return failedAt(code, message, step.name, line === null ? at : { line, column });
  }
  return undefined;
}

/** Whether somebody decides the approval. Otherwise it stays open, until it expires if its answer says so. */
async function answerApproval(state: RunState, call: ApprovalCall): Promise<boolean> {
  const at = placeOf(state, call.key);
  const shown: LocalCall = { kind: "approval", name: call.name, title: call.options.title, at };
  state.observer.onCall(shown);
  const given = await state.answerer.approval(call, at);
  const { decision } = given;
  if (decision === "expire" || decision === "wait") {
    if (decision === "expire") state.expiring.set(call.key, given);
    state.left.add(call.key);
    return false;
  }
  const { time: now, run_id } = state;
  recordAnswer(state, shown, call.key, {
    json: approvalResult({ ...call, given: { ...given, decision }, now, run_id }),
  });
  return true;
}

/** Starting a run has no effect here; it ends when the script waits for it. */
function answerStart(state: RunState, { key, workflow, args }: Extract<PendingCall, { kind: "child" }>): void {
  const run_id = newId();
  state.children.set(run_id, workflow);
  const call: LocalCall = { kind: "child", name: workflow, args: JSON.parse(args), at: placeOf(state, key) };
  state.observer.onCall(call);
  recordAnswer(state, call, key, { json: JSON.stringify({ run_id }) });
}

/** Answers for a person, another run, an agent or an event. False if only time can pass. */
async function answerOther(state: RunState, pending: PendingCall[]): Promise<boolean> {
  const open = pending.filter((call) => call.kind === "steps" || !state.left.has(call.key));
  for (const call of open) if (call.kind === "approval" && (await answerApproval(state, call))) return true;
  const wait = open.find((call) => call.kind === "runWait");
  if (wait) {
    await answerWait(state, wait);
    return true;
  }
  const turn = open.find((call) => call.kind === "agent");
  if (turn) {
    await answerAgent(state, turn);
    return true;
  }
  for (const call of open) if (call.kind === "messageWait" && (await answerEvent(state, call))) return true;
  return false;
}

/** Answers steps first, then approvals, runs, agents, events and finally timers and expiries. Throws CliError. */
async function answerNext(state: RunState, pending: PendingCall[]): Promise<LocalEnd | undefined> {
  fixDueTimes(state, pending);
  const steps = pending.filter((call) => call.kind === "steps");
  const starts = pending.filter((call) => call.kind === "child");
  for (const start of starts) answerStart(state, start);
  for (const call of steps)
    for (const step of call.steps) {
      const end = await answerStep(state, step, call.on_error);
      if (end) return end;
    }
  if (steps.length + starts.length > 0) return undefined;
  return (await answerOther(state, pending)) ? undefined : answerTimed(state, pending);
}

const continuedAt = ({ args, line, column }: Extract<TickOutcome["end"], { type: "continued" }>): LocalEnd => ({
  type: "continued",
  args: JSON.parse(args) as unknown,
  at: { line, column },
});

/**
 * Runs a workflow on this machine: `run()` in the sandbox, its calls answered by an answerer. Waiting takes no real time. Throws
 * CliError if a call has no answer.
 */
export async function runLocally({ runner }: Pick<LocalSandbox, "runner">, run: LocalRun): Promise<LocalEnd> {
  const created_at = Date.parse(run.now);
  const start = {
    memo: [],
    created_at,
    time: created_at,
    logged: 0,
    places: new Map(),
    children: new Map(),
    due: new Map(),
    expiring: new Map(),
    left: new Set<string>(),
  };
  const state: RunState = { ...run, runner, ...start };
  for (let n = 0; n < MAX_TICKS; n++) {
    const { end, pending } = await tick(state);
    if (end.type === "completed") return { type: "completed", result: JSON.parse(end.json) as unknown };
    if (end.type === "failed") return failedAt(end.code, end.message, null, { line: end.line, column: end.column });
    if (end.type === "continued") return continuedAt(end);
    const ended = await answerNext(state, pending);
    if (ended) return ended;
  }
  const what = `${run.script.file}: run() has not ended after ${MAX_TICKS} ticks`;
  throw new CliError(what, "look for a loop without an end");
}
