import type { StepContext, StepFailureCode, StepResult, TickCall, TickOutcome } from "#services/workflows/tick.ts";
import type { QuickJsWasm } from "../vm/wasm.ts";

/*
 * Messages between this process, a process that runs workflows, and the threads of that process, which passes them on; `text` is
 * JSON, so that passing it on is cheap. `id` identifies a tick, or an attempt at a step.
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
  /** The thread does not have the script, or the memo of the run. */
  | { kind: "need"; id: number; what: "script" | "history" }
  /** `text`: TickReply, or StepOutcome. */
  | { kind: "done"; id: number; text: string }
  | { kind: "request"; id: number; request: number; what: string; text: string }
  /** The thread failed, not the script. */
  | { kind: "broken"; id: number; message: string };

/** To a process, for one of its threads, which starts with its first order. `tenant`: for whom the thread works from now on. */
export type RoutedOrder = { thread: number; tenant: string; order: Order } | { thread: number; end: true };

/**
 * Why a thread was ended: its script computed for too long (`speculating`: a speculative step did), its tenant's scripts held too
 * much memory, or it crashed.
 */
export type ThreadLoss = "computing" | "speculating" | "memory" | "failed";

/** From a process: a report of a thread, or its end. `at`: the id of what it was computing. */
export type ThreadReport = { thread: number; report: Report } | { thread: number; lost: ThreadLoss; at: number | null };

/** Data that a thread starts with. */
export interface ThreadData {
  wasm: QuickJsWasm;
  /** CPU time that a tick, or an attempt at a step, may compute, in milliseconds. */
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
  /** Entries of the memo that the thread has; 0: `memo` is the whole memo. */
  from: number;
  memo: unknown[];
  /** With the whole memo. */
  args?: string;
  headers?: Record<string, string>;
  created_at?: number;
  /** Allows speculative steps. */
  speculation?: TickCall["ahead"];
  ordered?: true;
  trace?: true;
}

export interface TickReply {
  /** Steps that ran within the tick, in order; each with the log lines since the one before. */
  speculated: SpeculatedStep[];
  outcome: TickOutcome;
}

/** Whether the thread keeps the history of the run after this tick: one that has ended needs no other. */
export const isKept = ({ end }: TickOutcome): boolean => end.type === "suspended";

/** A step that ran within its tick, with the outcome that the tick would have had without it. */
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
