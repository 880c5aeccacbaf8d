import type { StepContext, StepFailureCode, StepResult, TickCall, TickOutcome } from "#services/workflows/tick.ts";
import type { QuickJsWasm } from "../vm/wasm.ts";

/*
 * Messages between this process, a process that runs workflows, and that process's threads, to which it passes them on. `text` is
 * JSON, which makes passing it on cheap. `id` identifies a tick, or an attempt at a step.
 */

/** To a thread. */
export type Order =
  /** `text`: TickOrder. */
  | { kind: "tick"; id: number; text: string }
  /** `text`: StepOrder. */
  | { kind: "step"; id: number; text: string }
  /** The answer to `need`: `text` is the source of the script, or a TickOrder with the whole memo. */
  | { kind: "provide"; id: number; text: string }
  /** A piece of the answer to a request of a step: JSON of `{ok: true, value}` or `{ok: false, error}`. */
  | { kind: "answerPiece"; id: number; request: number; text: string }
  /** All pieces of the answer were sent. */
  | { kind: "answered"; id: number; request: number }
  | { kind: "cancel"; id: number }
  /** Drops the memo of the run whose id is `text`. */
  | { kind: "forget"; id: number; text: string };

/** From a thread. */
export type Report =
  /** The thread lacks the script, or the run's memo. */
  | { kind: "need"; id: number; what: "script" | "history" }
  /** `text`: TickReply, or StepOutcome. */
  | { kind: "done"; id: number; text: string }
  | { kind: "request"; id: number; request: number; what: string; text: string }
  /** The thread failed, not the script. */
  | { kind: "broken"; id: number; message: string };

/** An order to a process for one of its threads, which starts with its first order. `tenant`: whose work the thread does from now on. */
export type RoutedOrder = { thread: number; tenant: string; order: Order } | { thread: number; end: true };

/**
 * Why a thread was ended: its script computed too long (`speculating`: in a speculative step), its tenant's scripts held too much
 * memory, or it crashed.
 */
export type ThreadLoss = "computing" | "speculating" | "memory" | "failed";

/** A thread's report, or its end. `at`: id of the order it was computing. */
export type ThreadReport = { thread: number; report: Report } | { thread: number; lost: ThreadLoss; at: number | null };

/** Data that a thread starts with. */
export interface ThreadData {
  wasm: QuickJsWasm;
  /** Maximum CPU milliseconds of a tick, or of an attempt at a step. */
  cpu_ms: number;
  /** See threadStatus.ts. */
  status: SharedArrayBuffer;
}

export interface TickOrder {
  run_id: string;
  /** See TickCall. */
  seen_as?: string;
  sha256: string;
  now: number;
  /** Number of memo entries that the thread already has; 0: `memo` is complete. */
  from: number;
  memo: unknown[];
  /** Sent together with the whole memo. */
  args?: string;
  headers?: Record<string, string>;
  created_at?: number;
  /** Allows speculative steps. */
  speculation?: TickCall["speculation"];
  ordered?: true;
  trace?: true;
}

export interface TickReply {
  /** Steps that ran within the tick, in order, each with the log lines since the previous one. */
  speculated: SpeculatedStep[];
  outcome: TickOutcome;
}

/** Whether the thread keeps the run's history after this tick. A run that has ended needs none. */
export const shouldKeepHistory = ({ end }: TickOutcome): boolean => end.type === "suspended";

/** A step that ran within its tick, and the outcome the tick would have had without it. */
export interface SpeculatedStep {
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

export function newStepOrder(
  { run_id, step_id, attempt, idempotency_key, run_as }: StepContext,
  { args, ...order }: { args: string } & Omit<StepOrder, "input">,
): StepOrder {
  const context = { attempt, idempotencyKey: idempotency_key, runId: run_id, stepId: step_id, runAs: run_as };
  return { ...order, input: `{"args":${args},"context":${JSON.stringify(context)}}` };
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
        column: number | null;
      };
      logs: string[];
    };
