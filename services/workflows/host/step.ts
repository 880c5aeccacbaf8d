import type { StepContext } from "../tick.ts";
import type { Standing } from "./standing.ts";

/** The attempt at a step that asks. */
export interface AskingStep extends StepContext {
  organization_id: string;
  workflow_id: string;
  /** What the step is known by in its run (services/workflows/memoKey.ts). */
  key: string;
  /** Of the coordinator that runs the attempt. */
  epoch: number;
  worker: string;
  /** Resolves when the log knows that the attempt has begun: before that it may do nothing that others can see. */
  recorded(): Promise<void>;
}

/** A call of an attempt, and how things stand for it. */
export interface Asking {
  step: AskingStep;
  standing: Standing;
  /** What was asked, and which of the attempt's equal calls this is: the same in every attempt. */
  call: string[];
  signal: AbortSignal;
}
