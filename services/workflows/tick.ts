/* The port to the re-execution of `run()` and to the execution of a step; infra/scripts does both where they can do no harm. */

/** A call of `run()` that has come to something: what it is answered with, on every tick from then on. */
export interface MemoEntry {
  key: string;
  /** JSON of what it came to; `error` where a step failed that `run()` wants to be told of. */
  value: { json: string } | { error: { message: string; code: string } };
}

export interface TickCall {
  organization_id: string;
  run_id: string;
  /** JavaScript module that exports `run(ctx, args)` and `steps`. */
  js: string;
  /** SHA-256 of it, hex: what a runner may keep it by. */
  sha256: string;
  /** JSON. */
  args: string;
  /** Epoch milliseconds: the time that `run()` sees on every tick. */
  created_at: number;
  /** Epoch milliseconds of this tick, for `ctx.now` and for how long a timer still has. */
  now: number;
  /**
   * What is known of the run, oldest first. For one run the array only ever grows at its end, so a runner that has seen a part
   * needs the rest alone. Another array object is another history.
   */
  memo: MemoEntry[];
  /** What steps are told of the run: with it, those that ask nothing of the platform may be run before `step` is called for them. */
  ahead?: { run_as: StepContext["run_as"]; max_result_bytes: number };
}

export interface StepAsked {
  key: string;
  name: string;
  /** JSON. */
  args: string;
}
/** A call that has come to nothing yet, whether it was asked before or not. */
export type Asked =
  /** One step; or those of one runStepMany, in order, equal ones once. */
  | {
      kind: "steps";
      steps: StepAsked[];
      /** How many run at once; null outside runStepMany. */
      concurrency: number | null;
      on_error: "fail" | "return";
    }
  | { kind: "approval"; key: string; name: string; options: ApprovalOptions }
  /** `in_ms`: from when it was first asked. */
  | { kind: "timer"; key: string; until: { in_ms: number } | { at: string } };

export interface ApprovalOptions {
  title: string;
  body: string | null;
  form: Record<string, unknown> | null;
  assignees: ({ person: string } | { group: string } | { role: string })[];
  /** Null: what the envelope says. */
  expires_in_ms: number | null;
  on_expiry: "return" | "reject" | "fail";
  self_approval: boolean;
  api_key_may_decide: boolean;
}

export interface TickWarning {
  code: "signal_swallowed" | "step_args_changed" | "nested_signal";
  message: string;
  call: string | null;
  line: number | null;
}

/** Why `run()` failed: it threw, computed too long or needed too much memory, or waited for nothing that would ever come. */
export type RunFailureCode =
  | "run_error"
  | "run_timeout"
  | "out_of_memory"
  | "run_stuck"
  /** A value that JSON does not know was given to a call, or returned. */
  | "not_serialisable"
  | "result_too_large";

export interface TickOutcome {
  /** `suspended`: `run()` waits for what it asked for. `ended`: it called `complete()`, or returned with nothing outstanding. */
  end:
    | { type: "suspended" }
    | { type: "completed"; completion: "explicit" | "implicit"; json: string }
    | { type: "failed"; code: RunFailureCode; message: string; line: number | null };
  /** In the order in which they were asked, each key once; of a run that has ended, none counts. */
  asked: Asked[];
  /** Keys of the memo that were not asked for; only told where something new was asked. */
  unasked: string[];
  /** Values that were fixed in this tick, by `ctx.now(label)`. */
  notes: { key: string; json: string }[];
  warnings: TickWarning[];
  /** Everything that `run()` logged, from the beginning. */
  logs: string[];
}

/** Of a step: what `ctx` tells it. */
export interface StepContext {
  run_id: string;
  step_id: string;
  /** 1, 2, 3 … */
  attempt: number;
  /** The same for every attempt. */
  idempotency_key: string;
  run_as: { type: "service" | "person"; id: string | null };
}

/** What a step may ask of the platform; the inputs are what the script gave, unchecked. */
export type PlatformCall = "chat" | "agent" | "search" | "read" | "tool";

export interface StepHost {
  fetch(
    request: { url: string; method: string; headers: [string, string][]; body: string | null },
    signal: AbortSignal,
  ): Promise<{ status: number; headers: [string, string][]; body: string }>;
  secret(name: string): Promise<string>;
  /** `nth`: 0, 1, 2 … of this attempt's calls, so that a repeated attempt makes the same ones. Answers with what JSON knows. */
  call(what: PlatformCall, input: unknown, nth: number, signal: AbortSignal): Promise<unknown>;
}

export interface StepCall {
  organization_id: string;
  js: string;
  sha256: string;
  step: string;
  /** JSON. */
  args: string;
  context: StepContext;
  host: StepHost;
  /** How long it may take, what it waits for included. It counts from when it begins. */
  timeout_ms: number;
  /** Largest result, in bytes of JSON. */
  max_result_bytes: number;
  signal: AbortSignal;
}

export interface StepResult {
  json: string;
  logs: string[];
}

/** A step did not come to a result. The message is for the one who wrote it. */
export class StepFailure extends Error {
  readonly code: StepFailureCode;
  /** No further attempt would come out otherwise. */
  readonly final: boolean;
  /** The least that the next attempt waits, in milliseconds, as the other side asked for. */
  readonly retry_after_ms: number | null;
  readonly line: number | null;
  readonly logs: string[];
  constructor(
    code: StepFailureCode,
    message: string,
    options: { final?: boolean; retry_after_ms?: number | null; line?: number | null; logs?: string[] } = {},
  ) {
    super(message);
    this.name = "StepFailure";
    this.code = code;
    this.final = options.final ?? false;
    this.retry_after_ms = options.retry_after_ms ?? null;
    this.line = options.line ?? null;
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
  /** The person that the run acts for is not active in the organization any more. */
  | "run_as_inactive"
  /** The step finishes on its own, and the platform does nothing more for it. */
  | "run_ended"
  | "nested_step"
  /** The process that ran it was lost: it may have done something. */
  | "runner_lost";

/** A tick could not be run, through no fault that the script's author could mend at once: it is tried again. */
export class TickLost extends Error {}

export interface WorkflowRunner {
  /** Re-executes `run()` against what is known. Pure: the same history comes to the same outcome. Throws TickLost. */
  tick(call: TickCall): Promise<TickOutcome>;
  /** Throws StepFailure; throws the signal's reason when it is aborted. */
  step(call: StepCall): Promise<StepResult>;
  /** What it keeps of a run may go: nothing of it is to be done soon. */
  forget(run_id: string): void;
}
