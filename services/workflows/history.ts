import type { NewEvent } from "#events/define.ts";
import type { EventFrom } from "#events/language.ts";
import type { RunCreated, RunEvent } from "#events/run.ts";
import type { Value } from "#events/runParts.ts";
import { evolve } from "../deciders/runState.ts";
import { isLive, type RunState } from "../deciders/runState.ts";
import type { MemoEntry } from "./tick.ts";

/** A step that was scheduled; kept after its end, so that a changed one can be told from it. */
export interface KnownStep {
  name: string;
  args: Value;
  batch: string | null;
}

/** What a coordinator knows of a run: its events, folded. */
export interface History {
  organization_id: string;
  stream: string;
  created: EventFrom<typeof RunCreated>["data"];
  /** JSON. */
  args: string;
  state: RunState;
  /** Events that are folded in. Those that are noted and not yet recorded are among them (openRun.ts). */
  version: number;
  memo: MemoEntry[];
  /** Keys in the memo. */
  known: Set<string>;
  steps: Map<string, KnownStep>;
  /** Attempts of a step whose script runner was lost, under a worker that lived on. */
  losses: Map<string, number>;
  /** What is to be begun, oldest first. */
  queue: string[];
  /** How many of a batch are not at their end, and how many of it may run at once. */
  batches: Map<string, { open: number; concurrency: number }>;
  /** Pending approvals: what is to become of each when it expires. */
  approvals: Map<string, "return" | "reject" | "fail">;
  /** Lines of `run()` that are recorded. */
  logged: number;
  /** Warnings that were given. */
  warned: Set<string>;
  /** `run()` has not seen everything. */
  stale: boolean;
}

/** JSON of a value of an event; it may have to be opened before the fold. */
export type Json = (value: Value) => string;

export function begin(
  { organization_id, stream }: { organization_id: string; stream: string },
  { data }: EventFrom<typeof RunCreated>,
  args: string,
): History {
  return {
    organization_id,
    stream,
    created: data,
    args,
    state: { status: "absent" },
    version: 0,
    memo: [],
    known: new Set(),
    steps: new Map(),
    losses: new Map(),
    queue: [],
    batches: new Map(),
    approvals: new Map(),
    logged: 0,
    warned: new Set(),
    stale: true,
  };
}

/** Answers a call of `run()` from now on; what is known stays as it is. */
export function remember(history: History, key: string, value: MemoEntry["value"]): void {
  if (history.known.has(key)) return;
  history.known.add(key);
  history.memo.push({ key, value });
}

/** A step has come to its end; whether that is something that `run()` waits for. */
function finish(history: History, key: string): boolean {
  const batch = history.steps.get(key)?.batch;
  const line = batch ? history.batches.get(batch) : undefined;
  if (!line) return true;
  line.open -= 1;
  return line.open === 0;
}

/** What makes two warnings the same. */
export const warningOf = ({ code, call, line }: { code: string; call: string | null; line: number | null }): string =>
  [code, call, line].join("\n");

function answerApproval(history: History, event: Extract<RunEvent, { type: "ApprovalDecided" | "ApprovalExpired" }>) {
  const { key, approval_id, at } = event.data;
  const answer =
    event.type === "ApprovalDecided"
      ? {
          approved: event.data.decision === "approve",
          status: event.data.decision === "approve" ? "approved" : "rejected",
          data: event.personal?.data ? (JSON.parse(event.personal.data) as unknown) : null,
          comment: event.personal?.comment ?? null,
          decided_by: event.data.by,
        }
      : {
          approved: false,
          status: history.approvals.get(approval_id) === "reject" ? "rejected" : "expired",
          data: null,
          comment: null,
          decided_by: null,
        };
  remember(history, key, { json: JSON.stringify({ ...answer, decided_at: at, approval_id }) });
}

/** Folds an event in. `json` must know what it says of values in blobs. */
export function fold(history: History, event: NewEvent, json: Json): void {
  const happened = event as RunEvent;
  history.version += 1;
  history.state = evolve(history.state, happened);
  switch (happened.type) {
    case "StepsScheduled":
      return schedule(history, happened);
    case "StepStarted":
      history.queue = history.queue.filter((key) => key !== happened.data.key);
      return;
    case "StepAttemptLost":
      history.queue.push(happened.data.key);
      return;
    case "StepAttemptFailed": {
      const { code, key } = happened.data;
      if (code === "runner_lost") history.losses.set(key, (history.losses.get(key) ?? 0) + 1);
      return;
    }
    case "StepCompleted": {
      const { key } = happened.data;
      remember(history, key, { json: json(happened.personal!.result) });
      if (finish(history, key)) history.stale = true;
      return;
    }
    case "StepFailed": {
      const { code, key } = happened.data;
      remember(history, key, { error: { code, message: happened.personal!.error.message } });
      history.queue = history.queue.filter((queued) => queued !== key);
      if (finish(history, key)) history.stale = true;
      return;
    }
    case "TimerFired":
      remember(history, happened.data.key, { json: "null" });
      history.stale = true;
      return;
    case "ValueNoted":
      return remember(history, happened.data.key, { json: happened.personal!.json });
    case "ApprovalRequested":
      history.approvals.set(happened.data.approval_id, happened.data.on_expiry);
      return;
    case "ApprovalDecided":
    case "ApprovalExpired":
      answerApproval(history, happened);
      history.stale = true;
      return;
    case "RunTaken":
      history.stale = true;
      return;
    case "RunWarned":
      history.warned.add(warningOf(happened.data));
      return;
    case "RunLogged":
      history.logged += happened.personal!.logs.length;
      return;
    default:
  }
}

function schedule(history: History, { data, personal }: Extract<RunEvent, { type: "StepsScheduled" }>): void {
  data.steps.forEach(({ key, name, batch }, n) => {
    history.steps.set(key, { name, batch, args: personal!.args[n]! });
    history.queue.push(key);
  });
  const batch = data.steps[0]?.batch;
  if (batch)
    history.batches.set(batch, { open: data.steps.length, concurrency: data.concurrency ?? data.steps.length });
}

/** Values in blobs that an event speaks of and that the fold needs. */
export const valuesIn = (event: NewEvent): Value[] =>
  event.type === "StepCompleted" ? [(event as Extract<RunEvent, { type: "StepCompleted" }>).personal!.result] : [];

/**
 * What may begin now, oldest first, within what a batch and the run have at the same time. A step whose worker was lost begins
 * again only `withLost`: it may have to be given up.
 */
export function startable(
  { state, queue, steps, batches, created }: History,
  { more = [], withLost = false }: { more?: Started[]; withLost?: boolean } = {},
): string[] {
  if (!isLive(state)) return [];
  const running = new Map<string | null, number>();
  let all = 0;
  for (const [key, { status }] of Object.entries(state.steps)) {
    if (status !== "running") continue;
    all += 1;
    const batch = steps.get(key)?.batch ?? null;
    running.set(batch, (running.get(batch) ?? 0) + 1);
  }
  const waiting = queue
    .filter((key) => withLost || state.steps[key]?.lost === 0)
    .map((key) => {
      const batch = steps.get(key)?.batch ?? null;
      return { key, batch, concurrency: batch ? batches.get(batch)!.concurrency : Infinity };
    });
  const starts: string[] = [];
  for (const { key, batch, concurrency } of [...waiting, ...more]) {
    if (all >= created.limits.max_parallel) break;
    const beside = batch === null ? 0 : (running.get(batch) ?? 0);
    if (beside >= concurrency) continue;
    running.set(batch, beside + 1);
    all += 1;
    starts.push(key);
  }
  return starts;
}

/** A step that is about to be scheduled. */
export interface Started {
  key: string;
  batch: string | null;
  concurrency: number;
}
