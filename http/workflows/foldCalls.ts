import type { RecordedEvent } from "#events/envelope.ts";
import {
  approvalAnswer,
  beginApproval,
  inOrderOfAnswers,
  voteAnswer,
  type ApprovalProgress,
  type CallAnswer,
  type InheritedCall,
} from "#events/inheritedCalls.ts";
import { eventTime } from "#events/run.ts";
import type { StoredValue } from "#events/runParts.ts";
import { createPause } from "#events/slices.ts";
import { createLinkedCallFold } from "./foldLinkedCalls.ts";
import type { RecordedRunEvent } from "./foldSteps.ts";

/** A call that `run()` has made. */
export interface RunCall extends Omit<InheritedCall, "args" | "answer"> {
  args: StoredValue | null;
  /** Undefined while the call is open. */
  answer: CallAnswer | StoredValue | undefined;
  /** Whether the answer comes from a turn of this run: a success or an error (agentCallAnswer). */
  ofTurn?: boolean;
  /** Whether the step was started. */
  hasRun: boolean;
  /** Whether the failure or expiry of this call ends the run. */
  endsRun: boolean;
  /** The number of answers that the run had received when it made this call; Infinity (unknown) for an inherited call. */
  answers_before: number;
}

const newCall = (kind: RunCall["kind"], key: string, more: Partial<RunCall> = {}): RunCall => ({
  kind,
  key,
  name: null,
  batch: null,
  index: null,
  args: null,
  answer: undefined,
  hasRun: false,
  endsRun: false,
  answers_before: 0,
  answered_at: null,
  ...more,
});

const inheritedCall = ({ args, ...call }: InheritedCall): RunCall => ({
  ...call,
  args: args === null ? null : { json: args },
  hasRun: call.kind === "step",
  endsRun: false,
  answers_before: Infinity,
});

type ScheduledEvent = RecordedRunEvent<"StepsScheduled">;
const scheduledCalls = ({ data: { steps, on_error }, personal }: ScheduledEvent): RunCall[] =>
  steps.map(({ key, name, batch, index }, n) =>
    newCall("step", key, { name, batch, index, args: personal?.args[n] ?? null, endsRun: on_error === "fail" }),
  );

/** Collects calls in the order in which `run()` first made them. Answers are numbered in the order in which they arrived. */
function createCalls(inherited: readonly InheritedCall[]) {
  const calls = new Map(inherited.map((call) => [call.key, inheritedCall(call)]));
  let answered = 0;
  const number = (call: RunCall) => {
    if (call.answer) call.nth_answer ??= ++answered;
  };
  for (const { key } of inOrderOfAnswers(inherited)) calls.get(key)!.nth_answer = ++answered;
  const add = (call: RunCall) => {
    calls.set(call.key, call);
    call.answers_before = answered;
    number(call);
  };
  const change = (key: string, part: Partial<RunCall>) => {
    const call = calls.get(key);
    if (call) number(Object.assign(call, part));
  };
  return { calls, add, change };
}

/** Folds the calls of a run, in the order in which `run()` first made them. `apply` takes the next event. */
function createCallFold(inherited: readonly InheritedCall[]) {
  const { calls, add, change } = createCalls(inherited);
  const approvals = new Map<string, ApprovalProgress>();
  const foldLink = createLinkedCallFold({ add: (...call) => add(newCall(...call)), change });
  function apply(event: RecordedRunEvent): void {
    const answered_at = eventTime(event).toISOString();
    switch (event.type) {
      case "StepsScheduled":
        scheduledCalls(event).forEach(add);
        break;
      case "StepStarted":
        change(event.data.key, { hasRun: true });
        break;
      case "StepCompleted":
        if (event.personal) change(event.data.key, { answer: event.personal.result, endsRun: false, answered_at });
        break;
      case "StepFailed": {
        const { code, key } = event.data;
        change(key, { answer: { error: { code, message: event.personal?.error.message ?? "" } }, answered_at });
        break;
      }
      case "TimerStarted":
        add(newCall("timer", event.data.key));
        break;
      case "TimerFired":
        change(event.data.key, { answer: { json: "null" }, answered_at });
        break;
      case "ValueNoted":
        if (event.personal) add(newCall("value", event.data.key, { answer: event.personal }));
        break;
      case "ApprovalRequested":
        approvals.set(event.data.approval_id, beginApproval(event));
        add(newCall("approval", event.data.key, { name: event.personal?.name ?? null }));
        break;
      case "ApprovalVoted":
        approvals.get(event.data.approval_id)?.votes?.push(voteAnswer(event));
        break;
      case "ApprovalDecided":
      case "ApprovalExpired": {
        const approval = approvals.get(event.data.approval_id);
        const endsRun = event.type === "ApprovalExpired" && approval?.on_expiry === "fail";
        change(event.data.key, { answer: { json: approvalAnswer(event, approval) }, endsRun, answered_at });
        break;
      }
      default:
        foldLink(event, answered_at);
    }
  }
  return { calls, apply };
}

/**
 * Folds the calls of a run: first those that it inherited, then its own in the order in which `run()` first made them. Lets other
 * work run in between.
 */
export async function foldCalls(
  events: readonly RecordedEvent[],
  inherited: readonly InheritedCall[],
): Promise<RunCall[]> {
  const { calls, apply } = createCallFold(inherited);
  const pause = createPause();
  for (const event of events as readonly RecordedRunEvent[]) {
    const turn = pause();
    if (turn) await turn;
    apply(event);
  }
  return [...calls.values()];
}
