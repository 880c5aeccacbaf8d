import { queryOptions } from "@tanstack/react-query";
import { address, call, itemPath, queryOne } from "./call.ts";
import type { Actor, ErrorPlace, Page, RunSummary } from "./types.ts";

/* One run with all its details. */

export interface Attempt {
  n: number;
  status: "running" | "completed" | "failed" | "lost";
  started_at: string;
  ended_at: string | null;
  error: string | null;
  error_info: ErrorPlace | null;
  logs: string[];
  logs_truncated: boolean;
}

export interface Step {
  id: string;
  name: string;
  status: "scheduled" | "running" | "retry_wait" | "completed" | "failed" | "abandoned";
  index: number | null;
  attempts: Attempt[];
  args: unknown;
  result: unknown;
  omitted?: ("args" | "result")[];
  error: string | null;
  idempotency_key: string;
  /** The result was inherited from the parent run. */
  inherited: boolean;
  scheduled_at: string;
  completed_at: string | null;
}

/** A wait of a live run. */
export type OpenWait =
  | { type: "approval"; id: string; name: string; since: string; expires_at: string }
  | { type: "step"; id: string; name: string; attempt: number; next_attempt_at: string | null }
  | { type: "timer"; until: string }
  | { type: "run"; run_id: string; since: string; until: string | null }
  | { type: "event"; name: string | null; since: string; until: string | null }
  | { type: "agent"; name: string | null; response_id: string; since: string };

/** A wait of a run, open or ended. */
export interface RunWait {
  type: "approval" | "timer" | "run" | "event" | "agent";
  key: string;
  /** The name of the approval, event or agent. */
  name: string | null;
  approval_id: string | null;
  run_id: string | null;
  since: string;
  /** Its position among the steps. */
  steps_before: number;
  until: string | null;
  ended_at: string | null;
  outcome: string | null;
  decided_by: Actor | null;
  event_id: string | null;
  /** The agent's turn; null before the turn has started. */
  agent_id: string | null;
  turn_id: string | null;
  reminded_at: string | null;
  escalated_at: string | null;
  links: number;
}

/** A run that `run()` started. */
export interface ChildRun {
  run_id: string;
  /** The id or name that `run()` passed; null once it is erased. */
  workflow: string | null;
  on_parent_end: "cancel" | "leave";
  started: boolean;
}

export interface Run extends RunSummary {
  error_info: ({ code: string; step: string | null; attempt?: number | null } & ErrorPlace) | null;
  cancelled_by: Actor | null;
  cancel_reason: string | null;
  expires_at: string;
  waiting_on: OpenWait[];
  waits: RunWait[];
  child_runs: ChildRun[];
  args: unknown;
  result: unknown;
  warnings: { code: string; message: string; step: string | null; line: number | null }[];
  logs: { tick: number; text: string }[];
  counts: { steps: number; attempts: number; ticks: number };
}

const pathOf = (run: string) => itemPath("workflows/runs", run);

export const getRun = (id: string) =>
  queryOptions({
    queryKey: ["run", "one", id],
    // a run may have thousands of steps, so they are read in pages
    queryFn: queryOne<Run>(pathOf(id), { steps: "false" }),
  });

/** Steps per request: the number of rows in a chunk of a long list. */
export const STEPS_PER_PAGE = 100;

/** The steps from a position in the list on, without their values. */
export const listSteps = (run: string, offset: number) =>
  queryOptions({
    queryKey: ["run", "steps", run, offset],
    queryFn: queryOne<Page<Step>>(`${pathOf(run)}/steps`, { limit: STEPS_PER_PAGE, offset }),
  });

/** One step with its values, by its position in the list. */
export const getStep = (run: string, place: number, status: Step["status"]) =>
  queryOptions({
    queryKey: ["run", "step", run, place, status],
    queryFn: async ({ signal }) => {
      const query = { limit: 1, offset: place, values: "true" };
      const page = await call<Page<Step>>(`${pathOf(run)}/steps`, { signal, query });
      return page.data[0] ?? null;
    },
  });

/** Starts a new run that inherits all results and executes the failed step again. */
export const retryRun = (id: string) => call<RunSummary>(`${pathOf(id)}/retry`, { method: "POST", body: {} });
/** The changes of a fork; omitted fields stay the same. */
export interface ForkChanges {
  args?: unknown;
  /** The result of the step, which is then not executed. */
  result?: unknown;
  definition_version?: number;
}
/** Starts a new run that executes a step and all later steps again. */
export const forkRun = (id: string, step_id: string, changes: ForkChanges = {}) =>
  call<RunSummary>(`${pathOf(id)}/fork`, { method: "POST", body: { step_id, ...changes } });

/** Why a step was executed, according to the parent run's record of the same call. */
export interface StepReason {
  reason:
    | "no_parent"
    | "parent_deleted"
    | "inherited"
    | "set"
    | "failed"
    | "unanswered"
    | "forked"
    | "arguments"
    | "new_call";
  parent: {
    run_id: string;
    kind: "retry" | "fork";
    step: string | null;
    step_id: string | null;
    args: unknown;
  } | null;
  changes: {
    what: "version" | "run_arguments" | "result";
    step: string | null;
    from: number | null;
    to: number | null;
  }[];
}
export const explainStep = (run: string, step: string) =>
  queryOptions({
    queryKey: ["run", "reason", run, step],
    queryFn: queryOne<StepReason>(`${itemPath(`${pathOf(run)}/steps`, step)}/reason`),
  });

/** Number of related runs shown with a run; the list of runs shows all. */
const MAX_RELATED = 20;

/** The runs that retry or fork a run. */
export const listContinuations = (id: string) =>
  queryOptions({
    queryKey: ["run", "continuations", id],
    queryFn: queryOne<Page<RunSummary>>("workflows/runs", { parent_id: id, limit: MAX_RELATED }),
  });

export interface RunFile {
  id: string;
  name: string;
  mime_type: string;
  bytes: number;
  /** Files that the run received at its start or with an approval. */
  given: boolean;
  approval_id: string | null;
  created_at: string;
}

export const fileAddress = (run: string, file: string): string =>
  address(`${itemPath(`${pathOf(run)}/files`, file)}/content`).href;

export const listRunFiles = (id: string) =>
  queryOptions({
    queryKey: ["run", "files", id],
    queryFn: queryOne<{ data: RunFile[] }>(`${pathOf(id)}/files`),
  });

/** The newest of the runs that a run started. */
export const listChildRuns = (id: string) =>
  queryOptions({
    queryKey: ["run", "children", id],
    queryFn: queryOne<Page<RunSummary>>("workflows/runs", { starter_id: id, limit: MAX_RELATED }),
  });
