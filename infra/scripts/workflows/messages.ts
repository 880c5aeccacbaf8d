import type { StepContext, StepFailureCode, StepResult, TickCall, TickOutcome } from "#services/workflows/tick.ts";

/*
 * What goes between this process, one that runs workflows, and the threads of that one. The process hands on what its threads
 * send and get; `text` is JSON, so that handing it on is cheap. A tick or an attempt at a step is known by its id.
 */

export type Order =
  /** `text`: TickOrder. */
  | { kind: "tick"; id: number; text: string }
  /** `text`: StepOrder. */
  | { kind: "step"; id: number; text: string }
  /** What a thread said that it needs: `text` is JSON of a script, or of the TickOrder with all that is known of the run. */
  | { kind: "give"; id: number; text: string }
  /** The answer to what a step asked: JSON of `{ok: true, value}` or `{ok: false, error}`. */
  | { kind: "answer"; id: number; ask: number; text: string }
  | { kind: "cancel"; id: number }
  /** Nothing more of the run whose id `text` is. */
  | { kind: "forget"; id: number; text: string };

export type Report =
  /** The thread has not got the script, or not what is known of the run. */
  | { kind: "need"; id: number; what: "script" | "history" }
  /** `text`: Ticked, or StepOutcome. */
  | { kind: "done"; id: number; text: string }
  | { kind: "ask"; id: number; ask: number; what: string; text: string }
  /** The thread failed, not the script. */
  | { kind: "broken"; id: number; message: string };

/** To a process: for one of its threads, which is started where it is not there. `tenant`: for whom it works from now on. */
export type Routed = { thread: number; tenant: string; order: Order } | { thread: number; end: true };
/** Why a thread was ended: what it computed took too long, or a step did that it ran ahead, its tenant's scripts held too much, or it failed. */
export type Loss = "computing" | "ahead" | "memory" | "failed";
/** From a process. `lost`: the thread is gone; `at`: what it was computing then. */
export type Routing = { thread: number; report: Report } | { thread: number; lost: Loss; at: number | null };

/** What a thread is started with. */
export interface ThreadData {
  /** QuickJS, compiled. */
  wasm: never;
  /** What a tick, or an attempt at a step without its waiting, may compute: milliseconds of processor time. */
  cpu_ms: number;
  /** See board.ts. */
  shared: SharedArrayBuffer;
}

export interface TickOrder {
  run_id: string;
  sha256: string;
  now: number;
  /** How many entries of the memo the thread has already; 0: what follows is all there is. */
  from: number;
  memo: unknown[];
  /** With all there is. */
  args?: string;
  created_at?: number;
  ahead?: TickCall["ahead"];
}

/** What a tick has come to; `early`: first this was asked, and that step was run in the same breath. */
export interface Ticked {
  /** Each with the lines that were logged since the one before it. */
  early: Early[];
  outcome: TickOutcome;
}
export interface Early {
  outcome: TickOutcome;
  key: string;
  order: StepOrder;
  result: StepResult;
}

export interface StepOrder {
  sha256: string;
  step: string;
  /** JSON of `{args, context}`. */
  input: string;
  max_result_bytes: number;
}

export function stepOrder(
  { run_id, step_id, attempt, idempotency_key, run_as }: StepContext,
  { args, ...order }: { args: string } & Omit<StepOrder, "input">,
): StepOrder {
  const told = { attempt, idempotencyKey: idempotency_key, runId: run_id, stepId: step_id, runAs: run_as };
  return { ...order, input: `{"args":${args},"context":${JSON.stringify(told)}}` };
}

export type StepOutcome =
  | { json: string; logs: string[] }
  | {
      failed: {
        code: StepFailureCode;
        message: string;
        final: boolean;
        retry_after_ms: number | null;
        line: number | null;
      };
      logs: string[];
    };
