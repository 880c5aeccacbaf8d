import type { CallAnswer } from "#events/inheritedCalls.ts";
import type { PendingCall, PendingStep } from "#services/workflows/tick.ts";
import type { AgentAnswer, ApprovalAnswer, EventAnswer, RunAnswer } from "./answers.ts";

/* Types of the code that answers the calls of a local run, and of the code that displays them. */

export interface Place {
  line: number | null;
  column: number | null;
}

/** A call of `run()`, as timelines show it and tests expect it. */
export type LocalCall =
  | { kind: "step"; name: string; args: unknown; at: Place }
  | { kind: "approval"; name: string; title: string; at: Place }
  | { kind: "child"; name: string; args: unknown; at: Place }
  | { kind: "runWait"; name: string; at: Place }
  | { kind: "event"; name: string; at: Place }
  | { kind: "agent"; name: string; input: unknown; at: Place }
  | { kind: "timer"; until: string; at: Place };

export type ApprovalCall = Extract<PendingCall, { kind: "approval" }>;
export type EventCall = Extract<PendingCall, { kind: "messageWait" }>;

/** Answers the calls of a local run. */
export interface Answerer {
  /** JSON of the result. Throws StepFailure if the step has failed, and CliError if it has no answer. */
  step(step: PendingStep, at: Place, run_id: string): Promise<string>;
  /** Throws CliError. */
  approval(call: ApprovalCall, at: Place): Promise<ApprovalAnswer>;
  /** The end of a run, by the name of its workflow or by its id. Throws CliError. */
  run(name: string, at: Place): Promise<RunAnswer>;
  /** An agent's answer, by its name or id. Throws CliError. */
  agent(name: string, at: Place): Promise<AgentAnswer>;
  /** Undefined if no event comes, so that the wait times out. Throws CliError. */
  event(call: EventCall, at: Place): Promise<EventAnswer | undefined>;
}

export interface LocalObserver {
  onCall(call: LocalCall): void;
  onAnswer(call: LocalCall, answer: CallAnswer): void;
  onLog(line: string): void;
}

export type LocalEnd =
  | { type: "completed"; result: unknown }
  /** It called `continueAs()`. `args`: the arguments of the run that would continue it. */
  | { type: "continued"; args: unknown; at: Place }
  | { type: "failed"; code: string; message: string; step: string | null; at: Place };
