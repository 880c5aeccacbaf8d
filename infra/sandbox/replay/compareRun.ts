import type { ComparedCall, Difference, RecordedCall, RecordedRun, Replay } from "#http/base/runReplayer.ts";
import { findDifferences } from "#services/workflows/findDifferences.ts";
import type { PendingCall, TickOutcome, TracedCall } from "#services/workflows/tick.ts";

/** A call made by a replay that is not in the record. */
interface NewCall extends ComparedCall {
  key: string;
  /** JSON; null for calls whose arguments are not compared. */
  args: string | null;
}

/** The progress of a replay. */
export interface ReplayState {
  /** All calls made by any of its ticks, by key, in order. */
  made: Map<string, TracedCall>;
  /** The outcome of the last tick. */
  outcome: TickOutcome;
}

/** JSON of the terms by which two approvals of one name are compared. */
export const approvalTerms = (terms: {
  title: string;
  body: string | null;
  form: unknown;
  assignees: unknown;
  on_expiry: string;
  self_approval: boolean;
  votes?: unknown;
}): string => {
  const { title, body, form, assignees, on_expiry, self_approval, votes } = terms;
  return JSON.stringify({ title, body, form, assignees, on_expiry, self_approval, votes });
};

function pendingCalls(call: PendingCall): NewCall[] {
  if (call.kind === "steps") return call.steps.map(({ key, name, args }) => ({ kind: "step", key, name, args }));
  const args = call.kind === "approval" ? approvalTerms(call.options) : null;
  const name = call.kind === "approval" ? call.name : call.kind === "child" ? call.workflow : null;
  return [{ kind: call.kind, key: call.key, name, args }];
}

/** The first call that is not in the record. */
export function firstNewCall({ calls }: RecordedRun, { pending }: TickOutcome): NewCall | undefined {
  const recorded = new Set(calls.map(({ key }) => key));
  return pending.flatMap(pendingCalls).find(({ key }) => !recorded.has(key));
}

const named = ({ kind, name }: ComparedCall): ComparedCall => ({ kind, name });
const NO_CALL = { call: null, recorded: null, pointers: [], line: null, column: null };
const pointersIn = (before: string | null, now: string | null): string[] =>
  before === null || now === null ? [] : findDifferences(JSON.parse(before), JSON.parse(now));

/** How an unrecorded call deviates from the record. `missing`: recorded calls that the replay has not made. */
function compareCall(call: NewCall, { made }: ReplayState, missing: RecordedCall[]): Replay {
  const { line = null, column = null } = made.get(call.key) ?? {};
  const place = { call: named(call), line, column };
  // the record does not contain names of child runs
  const changed = missing.find(({ kind, name }) => kind === call.kind && (name === null || name === call.name));
  if (changed) {
    const pointers = pointersIn(changed.args, call.args);
    return { outcome: "different", difference: { reason: "arguments", ...place, recorded: named(changed), pointers } };
  }
  const [next] = missing;
  if (!next) return { outcome: "unanswered", difference: { reason: "added", ...place, recorded: null, pointers: [] } };
  return { outcome: "different", difference: { reason: "call", ...place, recorded: named(next), pointers: [] } };
}

const different = (reason: Difference["reason"], more: Partial<Difference> = {}): Replay => ({
  outcome: "different",
  difference: { ...NO_CALL, reason, ...more },
});

/** Whether the recorded run failed with the same error as the replay. */
function failedAlike({ calls, end }: RecordedRun, message: string): boolean {
  if (end.type !== "failed") return false;
  if (end.key === null) return end.message === message;
  const answer = calls.find(({ key }) => key === end.key)?.answer;
  return answer !== undefined && "error" in answer && message.includes(answer.error.message.slice(0, 1_000));
}

function compareEnd({ end }: RecordedRun, now: Exclude<TickOutcome["end"], { type: "failed" }>): Replay {
  if (now.type === "suspended") return end.type === "open" ? { outcome: "same" } : different("end");
  if (end.type !== now.type) return different("end");
  const pointers = pointersIn(end.json, now.type === "continued" ? now.args : now.json);
  return pointers.length === 0 ? { outcome: "same" } : different("result", { pointers });
}

/** Compares a run with its replay. Fixed values (`now`) that are no longer used do not count as a difference. */
export function compareRun(run: RecordedRun, state: ReplayState): Replay {
  const { made, outcome } = state;
  const { end } = outcome;
  const missing = run.calls.filter(({ key, kind }) => kind !== "value" && !made.has(key));
  const call = end.type === "suspended" ? firstNewCall(run, outcome) : undefined;
  if (call) return compareCall(call, state, missing);
  if (end.type === "failed") {
    const { code, message, line, column } = end;
    if (failedAlike(run, message)) return { outcome: "same" };
    return { outcome: "failed", error: { code, message, line, column } };
  }
  if (missing[0]) return different("missing", { recorded: named(missing[0]) });
  return compareEnd(run, end);
}
