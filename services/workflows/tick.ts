import type { CallAnswer } from "#events/inheritedCalls.ts";
import type { PlatformCall } from "./stepInputs.ts";

/* The port to the sandbox, which executes `run()` and steps; infra/sandbox implements it. */

/** The answer to a call of `run()`, the same on every tick. */
export interface MemoEntry {
  key: string;
  /** JSON of the result; `error` for a failed step that returns its error to `run()`. */
  value: CallAnswer;
}

export interface TickCall {
  organization_id: string;
  /** An organization's calls of lower rank get a free place first. */
  rank?: number;
  run_id: string;
  /** The id that `run()` sees if it differs from the run's own: in a retry or a fork, that of its oldest ancestor. */
  seen_as?: string | undefined;
  /** JavaScript module that exports `run(ctx, args)` and `steps`. */
  js: string;
  /** SHA-256 of `js`, hex. Runners may cache compiled code by it. */
  sha256: string;
  /** JSON. */
  args: string;
  /** Headers of the request that started the run. */
  headers?: Record<string, string> | undefined;
  /** Epoch milliseconds. `run()` sees this time on every tick. */
  created_at: number;
  /** Epoch milliseconds of this tick, for `ctx.now` and for timers. */
  now: number;
  /**
   * The answered calls, oldest first. A run's array only grows at its end, so a runner that has seen a part needs only the rest. A
   * new array object is a new history.
   */
  memo: MemoEntry[];
  /** The context of steps. If given, the runner may execute steps within the tick, unless they call the platform. */
  speculation?: {
    run_as: StepContext["run_as"];
    max_result_bytes: number;
    /** The run that idempotency keys derive from, if not this one. */
    effects_of?: string | undefined;
  };
  /** Answers reach `run()` one after the other, in the order of the memo (ADR 58). */
  ordered?: boolean;
  /** Requests `calls` in the outcome. */
  trace?: true;
}

/** A call that `run()` made, with the place in its source. */
export interface TracedCall {
  key: string;
  line: number | null;
  column: number | null;
}

export interface PendingStep {
  key: string;
  name: string;
  /** JSON. */
  args: string;
}
/** A call of `run()` without an answer, new or repeated. */
export type PendingCall =
  /** One step, or the items of one runStepMany in order and without duplicates. */
  | {
      kind: "steps";
      steps: PendingStep[];
      /** Items that run at the same time; null outside runStepMany. */
      concurrency: number | null;
      on_error: "fail" | "return";
    }
  | { kind: "approval"; key: string; name: string; options: ApprovalOptions }
  /** `in_ms` counts from the first tick that requests the timer. */
  | { kind: "timer"; key: string; until: { in_ms: number } | { at: string } }
  /** A run of another workflow to start. `workflow`: its id or its name; `args`: JSON. */
  | { kind: "child"; key: string; workflow: string; args: string; on_parent_end: "cancel" | "leave" }
  /** The end of another run. */
  | { kind: "runWait"; key: string; run_id: string; timeout_ms: number | null }
  /** A turn of an agent. `request`: JSON of `{input, vars}`; `thread_id`: the thread that it continues. */
  | { kind: "agent"; key: string; agent: string; request: string; thread_id: string | null }
  /** A message. `match`: values that its top-level fields must have. */
  | { kind: "messageWait"; key: string; name: string; match: Record<string, unknown>; timeout_ms: number | null };

export interface ApprovalOptions {
  title: string;
  body: string | null;
  form: Record<string, unknown> | null;
  assignees: ({ person: string } | { group: string } | { role: string })[];
  /** Null: the default of the envelope. */
  expires_in_ms: number | null;
  on_expiry: "return" | "reject" | "fail";
  remind_after_ms?: number;
  escalate?: { after_ms: number; to: ApprovalOptions["assignees"] };
  self_approval: boolean;
  api_key_may_decide: boolean;
  /** Ids of files that the deciders see. */
  attachments?: string[];
  /** Set if the approval takes several votes. */
  votes?: { required: number; one_rejection_ends: boolean };
}

export interface TickWarning {
  code: "signal_swallowed" | "step_args_changed" | "nested_signal";
  message: string;
  call: string | null;
  line: number | null;
}

/** `run_stuck`: `run()` awaits something that is not a call. */
export type RunFailureCode =
  | "run_error"
  | "run_timeout"
  | "out_of_memory"
  | "run_stuck"
  /** An argument or a result is not JSON. */
  | "not_serialisable"
  | "result_too_large";

export interface TickOutcome {
  /** `suspended`: `run()` waits for its pending calls. `completed`: it called `complete()` (explicit), or returned (implicit). */
  end:
    | { type: "suspended" }
    | { type: "completed"; completion: "explicit" | "implicit"; json: string }
    /** `run()` called `continueAs()`. `args`: JSON. */
    | { type: "continued"; args: string; line: number | null; column: number | null }
    | { type: "failed"; code: RunFailureCode; message: string; line: number | null; column: number | null };
  /** The pending calls in order, without duplicate keys. Meaningless once the run has ended. */
  pending: PendingCall[];
  /** Keys of stored results that `run()` did not ask for. Empty unless there is a new call. */
  unusedKeys: string[];
  /** Values that `ctx.now(label)` fixed in this tick. */
  notes: { key: string; json: string }[];
  warnings: TickWarning[];
  /** All lines that `run()` logged since its start. */
  logs: string[];
  /** All calls, answered or not, in order and without duplicates. */
  calls?: TracedCall[];
}

/** The `ctx` of a step. */
export interface StepContext {
  run_id: string;
  step_id: string;
  /** 1, 2, 3 … */
  attempt: number;
  /** Equal in every attempt. */
  idempotency_key: string;
  run_as: { type: "service" | "person"; id: string | null };
}

export interface StepHost {
  fetch(
    request: { url: string; method: string; headers: [string, string][]; body: string | null },
    signal: AbortSignal,
  ): Promise<{ status: number; headers: [string, string][]; body: string }>;
  secret(name: string): Promise<string>;
  /** `input` comes from the script and is not validated. `nth` counts the calls of the attempt from 0. Resolves with JSON. */
  call(what: PlatformCall, input: unknown, nth: number, signal: AbortSignal): Promise<unknown>;
}

export interface StepCall {
  organization_id: string;
  rank?: TickCall["rank"];
  js: string;
  sha256: string;
  step: string;
  /** JSON. */
  args: string;
  context: StepContext;
  host: StepHost;
  /** Wall-clock milliseconds from the start of the step, including calls it waits for. */
  timeout_ms: number;
  /** Maximum bytes of the result's JSON. */
  max_result_bytes: number;
  signal: AbortSignal;
}

export interface StepResult {
  json: string;
  logs: string[];
}

/** A step failed. The message is for the author of the script. */
export class StepFailure extends Error {
  readonly code: StepFailureCode;
  /** Whether a retry would fail the same way. */
  readonly final: boolean;
  /** The minimum wait before the next attempt that the other side asks for, in milliseconds. */
  readonly retry_after_ms: number | null;
  readonly line: number | null;
  readonly column: number | null;
  readonly logs: string[];
  constructor(
    code: StepFailureCode,
    message: string,
    options: {
      final?: boolean;
      retry_after_ms?: number | null;
      line?: number | null;
      column?: number | null;
      logs?: string[];
    } = {},
  ) {
    super(message);
    this.name = "StepFailure";
    this.code = code;
    this.final = options.final ?? false;
    this.retry_after_ms = options.retry_after_ms ?? null;
    this.line = options.line ?? null;
    this.column = options.column ?? null;
    this.logs = options.logs ?? [];
  }
}
export type StepFailureCode =
  | "step_error"
  | "step_timeout"
  | "step_result_too_large"
  | "step_limit"
  | "invalid_step_args"
  | "unknown_step"
  | "secret_not_allowed"
  | "secret_not_connected"
  | "secret_access_revoked"
  | "egress_not_allowed"
  | "model_not_allowed"
  | "agent_not_allowed"
  | "tool_not_allowed"
  | "collection_not_allowed"
  /** The person that the run acts for is no longer active in the organization. */
  | "run_as_inactive"
  | "nested_step"
  /** The process that ran the step was lost, so the step may have had effects. */
  | "runner_lost";

/** The runner was lost during a tick, which can be retried. */
export class TickLost extends Error {}

export interface WorkflowRunner {
  /** Executes `run()` against the memo. Deterministic: equal histories give equal outcomes. Throws TickLost. */
  tick(call: TickCall): Promise<TickOutcome>;
  /** Executes a step. Throws StepFailure, or the signal's reason. */
  step(call: StepCall): Promise<StepResult>;
  /** Drops the runner's caches for a run. */
  forget(run_id: string): void;
}
