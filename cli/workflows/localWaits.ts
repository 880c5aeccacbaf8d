import { newId } from "#events/ids.ts";
import { timedOutAnswer } from "#events/inheritedCalls.ts";
import { Envelope } from "#events/workflow.ts";
import { isMatch } from "#services/workflows/findWaits.ts";
import type { PendingCall } from "#services/workflows/tick.ts";
import { CliError } from "../cliError.ts";
import { approvalResult } from "./localApprovals.ts";
import type { ApprovalCall, EventCall, LocalCall, LocalEnd } from "./localCalls.ts";
import { failedAt, recordAnswer, placeOf, type RunState } from "./localState.ts";

/* A local run's waits for other runs, agents, events and time. */

const { default_expiry_s } = Envelope.shape.approvals.parse(undefined);

type Timer = Extract<PendingCall, { kind: "timer" }>;
/** A call that is answered by time passing. */
type TimedCall = Timer | (EventCall & { timeout_ms: number }) | ApprovalCall;
const isTimed = (call: PendingCall): call is TimedCall =>
  call.kind === "timer" || call.kind === "approval" || (call.kind === "messageWait" && call.timeout_ms !== null);

/** Whether an event answers the wait. Throws CliError if the event does not match. */
export async function answerEvent(state: RunState, wait: EventCall): Promise<boolean> {
  const { key, name, match } = wait;
  const at = placeOf(state, key);
  const given = await state.answerer.event(wait, at);
  if (!given) {
    state.left.add(key);
    return false;
  }
  const call: LocalCall = { kind: "event", name, at };
  state.observer.onCall(call);
  if (!isMatch(match, given.data))
    throw new CliError(`The event ${name} does not fit match ${JSON.stringify(match)}`, "change its data");
  recordAnswer(state, call, key, { json: JSON.stringify({ status: "received", event_id: newId(), data: given.data }) });
  return true;
}

export async function answerWait(state: RunState, { key, run_id }: Extract<PendingCall, { kind: "runWait" }>) {
  const at = placeOf(state, key);
  const name = state.children.get(run_id) ?? run_id;
  const call: LocalCall = { kind: "runWait", name, at };
  state.observer.onCall(call);
  recordAnswer(state, call, key, { json: JSON.stringify({ run_id, ...(await state.answerer.run(name, at)) }) });
}

/** Answers an agent's turn with the text of the answers file. */
export async function answerAgent(state: RunState, pending: Extract<PendingCall, { kind: "agent" }>): Promise<void> {
  const { key, agent: name, request, thread_id } = pending;
  const at = placeOf(state, key);
  const { input } = JSON.parse(request) as { input: unknown };
  const call: LocalCall = { kind: "agent", name, input, at };
  state.observer.onCall(call);
  const given = await state.answerer.agent(name, at);
  if ("error" in given)
    return recordAnswer(state, call, key, { error: { code: "agent_error", message: `agent: ${given.error}` } });
  const ids = { response_id: `resp_${newId()}`, thread_id: thread_id ?? newId() };
  recordAnswer(state, call, key, { json: JSON.stringify({ ...ids, ...given, usage: {} }) });
}

/** The end of the run if the expiry fails it. */
function expireApproval(state: RunState, call: ApprovalCall): LocalEnd | undefined {
  const { name, key, options } = call;
  const at = placeOf(state, key);
  const shown: LocalCall = { kind: "approval", name, title: options.title, at };
  const given = { ...state.expiring.get(key)!, decision: "expire" as const };
  const { time: now, run_id } = state;
  recordAnswer(state, shown, key, { json: approvalResult({ ...call, given, now, run_id }) });
  if (options.on_expiry !== "fail") return undefined;
  return failedAt("approval_expired", "An approval was not decided before it expired.", null, at);
}

/** Advances the simulated time to when the call is due. */
function passTime(state: RunState, call: TimedCall): LocalEnd | undefined {
  state.time = Math.max(state.time, state.due.get(call.key)!);
  if (call.kind === "approval") return expireApproval(state, call);
  const at = placeOf(state, call.key);
  const shown: LocalCall = { kind: "timer", until: new Date(state.time).toISOString(), at };
  state.observer.onCall(shown);
  recordAnswer(state, shown, call.key, { json: call.kind === "timer" ? "null" : timedOutAnswer(undefined) });
  return undefined;
}

/** Answers the call that is due first. Returns the end of the run if that is an expiry that fails it. Throws CliError if none is due. */
export function answerTimed(state: RunState, pending: PendingCall[]): LocalEnd | undefined {
  const timed = pending.filter(isTimed).filter(({ kind, key }) => kind !== "approval" || state.expiring.has(key));
  const [first] = timed.toSorted((a, b) => state.due.get(a.key)! - state.due.get(b.key)!);
  if (first) return passTime(state, first);
  const waits = pending.map((call) =>
    call.kind === "approval" || call.kind === "messageWait" ? call.name : call.kind,
  );
  const what = `${state.script.file}: run() waits for ${waits.join(", ") || "nothing"}, and nothing comes`;
  throw new CliError(what, "give it an answer");
}

function dueIn(call: TimedCall): Timer["until"] {
  if (call.kind === "timer") return call.until;
  return {
    in_ms: call.kind === "approval" ? (call.options.expires_in_ms ?? default_expiry_s * 1_000) : call.timeout_ms,
  };
}

/** Fixes when each timer, timeout and expiry is due. */
export function fixDueTimes(state: RunState, pending: PendingCall[]): void {
  for (const call of pending.filter(isTimed)) {
    if (state.due.has(call.key)) continue;
    const wait = dueIn(call);
    state.due.set(call.key, "at" in wait ? Date.parse(wait.at) : state.time + wait.in_ms);
  }
}
