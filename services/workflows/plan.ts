import { approvalId } from "#events/ids.ts";
import type { TickResult, Value } from "#events/runParts.ts";
import { isLive } from "../deciders/runState.ts";
import { startable, warningOf, type History, type Started } from "./history.ts";
import type { Asked, TickOutcome, TickWarning } from "./tick.ts";

/** A step of one name whose finished calls `run()` asks for no longer, so often, goes round in a circle. */
const THRASHES = 25;

type Steps = Extract<Asked, { kind: "steps" }>;
type ApprovalAsked = Extract<Asked, { kind: "approval" }>;

/** What is new of the steps that were asked for; each once. */
function newSteps(history: History, asked: Asked[]): Steps[] {
  const taken = new Set<string>();
  return asked.flatMap((each) => {
    if (each.kind !== "steps") return [];
    const steps = each.steps.filter(({ key }) => {
      if (taken.has(key) || history.steps.has(key)) return false;
      taken.add(key);
      return true;
    });
    return steps.length > 0 ? [{ ...each, steps }] : [];
  });
}

function terms(
  { options, key, name }: ApprovalAsked,
  { created }: History,
  now: number,
): TickResult["approvals"][number] {
  const { title, body, form, assignees, on_expiry, self_approval, api_key_may_decide, expires_in_ms } = options;
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
    expires_at: new Date(now + (expires_in_ms ?? default_expiry_s * 1_000)).toISOString(),
  };
}

/** Names of steps that are asked for anew while finished calls of the same step are asked for no longer. */
function changed(history: History, fresh: Steps[], unasked: string[]): Map<string, { old: string[]; now: string }> {
  const left = Map.groupBy(unasked, (key) => history.steps.get(key)?.name ?? "");
  const found = new Map<string, { old: string[]; now: string }>();
  for (const { steps } of fresh)
    for (const { name, args } of steps) {
      const old = left.get(name);
      if (old && !found.has(name)) found.set(name, { old, now: args });
    }
  return found;
}

/** Paths (JSON pointers) at which two values differ, a few of them. */
export function differences(a: unknown, b: unknown, path = "", found: string[] = []): string[] {
  if (found.length >= 5 || Object.is(a, b)) return found;
  const isTree = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
  if (!isTree(a) || !isTree(b) || Array.isArray(a) !== Array.isArray(b)) {
    found.push(path || "/");
    return found;
  }
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)]))
    differences(a[key], b[key], `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`, found);
  return found;
}

const jsonOf = (value: Value): unknown => ("json" in value ? JSON.parse(value.json) : undefined);

function warningOfChange(history: History, name: string, { old, now }: { old: string[]; now: string }): TickWarning {
  const before = jsonOf(history.steps.get(old.at(-1)!)!.args);
  const where = before === undefined ? [] : differences(before, JSON.parse(now));
  const at = where.length > 0 ? ` They differ at ${where.join(", ")}.` : "";
  return {
    code: "step_args_changed",
    message: `The step ${name} is run again: run() calls it with other arguments than those it has finished with.${at}`,
    call: name,
    line: null,
  };
}

type Keep = (json: string) => Promise<Value>;

/** What a tick means for the run: what is new in it, what begins at once, or how it ends. */
export async function planned(
  history: History,
  outcome: TickOutcome,
  { now, keep }: { now: number; keep: Keep },
): Promise<TickResult> {
  const { state } = history;
  const live = isLive(state) ? state : undefined;
  const fresh = outcome.end.type === "suspended" ? newSteps(history, outcome.asked) : [];
  const others = changed(history, fresh, outcome.unasked);
  const thrashing = [...others].find(([, { old }]) => old.length >= THRASHES)?.[0];
  const warnings = [
    ...outcome.warnings,
    ...[...others].map(([name, change]) => warningOfChange(history, name, change)),
  ].filter((warning) => !history.warned.has(warningOf(warning)));
  const result: TickResult = {
    schedule: [],
    start: [],
    timers: [],
    approvals: [],
    superseded: [],
    notes: outcome.notes.filter(({ key }) => !history.known.has(key)),
    warnings,
    logs: outcome.logs.slice(history.logged),
    end: null,
  };
  if (outcome.end.type === "completed") {
    const { completion, json } = outcome.end;
    return { ...result, end: { type: "completed", completion, result: await keep(json) } };
  }
  if (outcome.end.type === "failed") {
    const { code, message, line } = outcome.end;
    return { ...result, end: { type: "failed", code, step: null, error: { message, line } } };
  }
  if (thrashing !== undefined) {
    const message = `The step ${thrashing} was called ${THRASHES} times with arguments that run() did not come back to: they change from tick to tick.`;
    return { ...result, end: { type: "failed", code: "memo_thrash", step: thrashing, error: { message, line: null } } };
  }

  const asks = <K extends Asked["kind"]>(kind: K) =>
    outcome.asked.filter((each): each is Extract<Asked, { kind: K }> => each.kind === kind);
  const approvals = new Map(asks("approval").map((each) => [approvalId(history.created.run_id, each.key), each]));
  const timers = new Map(asks("timer").map(({ key, until }) => [key, until]));
  const waiting: Started[] = [];
  for (const { steps, concurrency, on_error } of fresh) {
    const batch = concurrency === null ? null : steps[0]!.key;
    waiting.push(...steps.map(({ key }) => ({ key, batch, concurrency: concurrency ?? Infinity })));
    result.schedule.push({
      concurrency,
      on_error,
      steps: await Promise.all(
        steps.map(async ({ key, name, args }, n) => ({
          key,
          name,
          batch,
          index: batch === null ? null : n,
          args: await keep(args),
        })),
      ),
    });
  }
  return {
    ...result,
    start: startable(history, { more: waiting }),
    timers: [...timers]
      .filter(([key]) => live?.timers[key] === undefined)
      .map(([key, until]) => ({
        key,
        fires_at: "at" in until ? new Date(until.at).toISOString() : new Date(now + until.in_ms).toISOString(),
      })),
    approvals: [...approvals]
      .filter(([id]) => live?.approvals[id] === undefined)
      .map(([, each]) => terms(each, history, now)),
    superseded: Object.keys(live?.approvals ?? {}).filter((id) => !approvals.has(id)),
  };
}
