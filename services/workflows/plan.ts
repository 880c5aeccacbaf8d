import { approvalId } from "#events/ids.ts";
import type { StoredValue, TickResult } from "#events/runParts.ts";
import { mapInSlices } from "#events/slices.ts";
import { isLive, type LiveRun } from "../deciders/runState.ts";
import type { ApprovalCall } from "./newApprovals.ts";
import { findDifferences } from "./findDifferences.ts";
import { warningIdentity, type History } from "./history.ts";
import { startableSteps, type StepToStart } from "./startableSteps.ts";
import { planLinks } from "./planLinks.ts";
import type { PendingCall, TickOutcome, TickWarning } from "./tick.ts";

/** Finished calls of one step that `run()` may drop in favour of other arguments. More suggest that the arguments change on every tick. */
const MAX_DROPPED_CALLS = 25;
/** Characters of a JSON pointer in a warning. */
const MAX_SHOWN_PATH = 200;

type StepCalls = Extract<PendingCall, { kind: "steps" }>;
type Store = (json: string) => Promise<StoredValue>;

/** The steps that are not scheduled yet, without duplicates. */
function newSteps(history: History, calls: PendingCall[]): StepCalls[] {
  const taken = new Set<string>();
  return calls.flatMap((call) => {
    if (call.kind !== "steps") return [];
    const steps = call.steps.filter(({ key }) => {
      if (taken.has(key) || history.steps.has(key)) return false;
      taken.add(key);
      return true;
    });
    return steps.length > 0 ? [{ ...call, steps }] : [];
  });
}

function approvalTerms(
  { options, key, name }: ApprovalCall,
  { created }: History,
  now: number,
): TickResult["approvals"][number] {
  const { title, body, form, assignees, on_expiry, self_approval, api_key_may_decide, expires_in_ms, votes } = options;
  const { remind_after_ms, escalate, attachments } = options;
  const after = (ms: number): string => new Date(now + ms).toISOString();
  const { default_expiry_s, allow_api_key } = created.approvals;
  return {
    key,
    approval_id: approvalId(created.run_id, key),
    name,
    title,
    body,
    form,
    assignees,
    self_approval,
    on_expiry,
    allow_api_key: allow_api_key && api_key_may_decide,
    ...(votes && { votes }),
    ...(attachments && { attachments }),
    ...(remind_after_ms !== undefined && { remind_at: after(remind_after_ms) }),
    ...(escalate && { escalate_at: after(escalate.after_ms), escalate_to: escalate.to }),
    expires_at: after(expires_in_ms ?? default_expiry_s * 1_000),
  };
}

interface ChangedCall {
  /** Keys of the finished calls that `run()` no longer makes. */
  dropped: string[];
  /** JSON of the new arguments. */
  args: string;
}

/** By step name: steps that `run()` calls with new arguments while it drops finished calls of the same step. */
function findChangedCalls(history: History, calls: StepCalls[], unusedKeys: string[]): Map<string, ChangedCall> {
  // a fork drops its parent's answers on purpose
  const own = unusedKeys.filter((key) => !history.inheritedKeys.has(key));
  const droppedByName = Map.groupBy(own, (key) => history.steps.get(key)?.name ?? "");
  const changed = new Map<string, ChangedCall>();
  for (const { name, args } of calls.flatMap(({ steps }) => steps)) {
    const dropped = droppedByName.get(name);
    if (dropped && !changed.has(name)) changed.set(name, { dropped, args });
  }
  return changed;
}

/** Where the arguments differ. A pointer may be as long as the arguments, because it contains names of properties. */
function describeChange(history: History, name: string, { dropped, args }: ChangedCall): string {
  const before = history.steps.get(dropped.at(-1)!)!.args;
  const where = "json" in before ? findDifferences(JSON.parse(before.json), JSON.parse(args)) : [];
  const shown = where.map((path) => (path.length > MAX_SHOWN_PATH ? `${path.slice(0, MAX_SHOWN_PATH)}…` : path));
  const at = shown.length > 0 ? ` They differ at ${shown.join(", ")}.` : "";
  return `The step ${name} is run again: run() calls it with other arguments than those it has finished with.${at}`;
}

/** The warnings that are new. Pauses between comparisons, because a tick may change hundreds of steps with megabytes of arguments. */
function warnOfChanges(history: History, changed: Map<string, ChangedCall>): Promise<TickWarning[]> {
  const warnings = [...changed.keys()].map((call) => ({ code: "step_args_changed" as const, call, line: null }));
  const fresh = warnings.filter((warning) => !history.warned.has(warningIdentity(warning)));
  return mapInSlices(fresh, (warning) => ({
    ...warning,
    message: describeChange(history, warning.call, changed.get(warning.call)!),
  }));
}

const filterCalls = <K extends PendingCall["kind"]>({ pending }: TickOutcome, kind: K) =>
  pending.filter((call): call is Extract<PendingCall, { kind: K }> => call.kind === kind);

/** The end of a run that has returned, failed, or changes its arguments on every tick; null while it continues. */
async function planEnd(
  { end }: TickOutcome,
  changed: Map<string, ChangedCall>,
  { store, continuation = null }: Pick<PlanContext, "store" | "continuation">,
): Promise<TickResult["end"]> {
  if (end.type === "continued") return continuation;
  if (end.type === "completed") return { type: "completed", completion: end.completion, result: await store(end.json) };
  if (end.type === "failed") {
    const { code, message, line, column } = end;
    return { type: "failed", code, step: null, error: { message, line, column } };
  }
  const step = [...changed].find(([, { dropped }]) => dropped.length >= MAX_DROPPED_CALLS)?.[0];
  if (step === undefined) return null;
  const message = `The step ${step} was called ${MAX_DROPPED_CALLS} times with arguments that no later tick repeated: they change on every tick.`;
  return { type: "failed", code: "memo_thrash", step, error: { message, line: null } };
}

/** All items of one `runStepMany` share a batch, named by its first item. */
const batchKey = ({ concurrency, steps }: StepCalls): string | null => (concurrency === null ? null : steps[0]!.key);

async function planSchedule(calls: StepCalls[], store: Store): Promise<TickResult["schedule"]> {
  const schedule: TickResult["schedule"] = [];
  for (const call of calls) {
    const { steps, concurrency, on_error } = call;
    const batch = batchKey(call);
    const scheduled = steps.map(async ({ key, name, args }, n) => ({
      key,
      name,
      batch,
      index: batch === null ? null : n,
      args: await store(args),
    }));
    schedule.push({ concurrency, on_error, steps: await Promise.all(scheduled) });
  }
  return schedule;
}

/** The new timers and approvals of a tick, and the approvals that it no longer requests. */
function planWaits(
  history: History,
  outcome: TickOutcome,
  live: LiveRun | undefined,
  now: number,
): Pick<TickResult, "timers" | "approvals" | "superseded"> {
  const { run_id } = history.created;
  const approvals = new Map(filterCalls(outcome, "approval").map((call) => [approvalId(run_id, call.key), call]));
  const timers = new Map(filterCalls(outcome, "timer").map(({ key, until }) => [key, until]));
  return {
    timers: [...timers]
      .filter(([key]) => live?.timers[key] === undefined)
      .map(([key, until]) => ({
        key,
        fires_at: new Date("at" in until ? until.at : now + until.in_ms).toISOString(),
      })),
    approvals: [...approvals]
      .filter(([id]) => live?.approvals[id] === undefined)
      .map(([, call]) => approvalTerms(call, history, now)),
    superseded: Object.keys(live?.approvals ?? {}).filter((id) => !approvals.has(id)),
  };
}

interface PlanContext {
  now: number;
  store: Store;
  /** The end of a run that has called `continueAs()`. */
  continuation?: TickResult["end"];
}

/** Turns the outcome of a tick into the content of events: new steps, timers and approvals, the steps that start at once, or the end. */
export async function planTick(history: History, outcome: TickOutcome, context: PlanContext): Promise<TickResult> {
  const { now, store } = context;
  const calls = outcome.end.type === "suspended" ? newSteps(history, outcome.pending) : [];
  const changed = findChangedCalls(history, calls, outcome.unusedKeys);
  const warnings = [
    ...outcome.warnings.filter((warning) => !history.warned.has(warningIdentity(warning))),
    ...(await warnOfChanges(history, changed)),
  ];
  const result: TickResult = {
    schedule: [],
    start: [],
    timers: [],
    children: [],
    runWaits: [],
    messageWaits: [],
    agentTurns: [],
    approvals: [],
    superseded: [],
    notes: outcome.notes.filter(({ key }) => !history.memoKeys.has(key)),
    warnings,
    logs: outcome.logs.slice(history.logged),
    end: await planEnd(outcome, changed, context),
  };
  if (result.end) return result;

  const { state } = history;
  const live = isLive(state) ? state : undefined;
  const more = calls.flatMap((call): StepToStart[] => {
    const [batch, concurrency] = [batchKey(call), call.concurrency ?? Infinity];
    return call.steps.map(({ key }) => ({ key, batch, concurrency }));
  });
  return {
    ...result,
    ...planWaits(history, outcome, live, now),
    ...(await planLinks(outcome.pending, { run_id: history.created.run_id, live, now, store })),
    schedule: await planSchedule(calls, store),
    start: startableSteps(history, { more }),
  };
}
