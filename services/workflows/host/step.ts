import type { Actor } from "#events/runOrigin.ts";
import type { Envelope } from "#events/workflow.ts";
import type { StreamHead } from "#events/ports.ts";
import type { StepContext } from "../tick.ts";

/** An attempt at a step. */
export interface StepAttempt extends StepContext {
  organization_id: string;
  workflow_id: string;
  /** The project of the run. */
  project_id: string | null;
  /** Who is behind the run: its turns are counted for them. */
  asked_by: Actor;
  /** The mark of the run's external user. */
  user_mark: string | null;
  /** The step's key in its run (services/workflows/memoKey.ts). */
  key: string;
  /** The lease of the coordinator that runs the attempt. */
  epoch: number;
  worker: string;
  /** Resolves when the log holds the start of the attempt. Before that, the attempt may have no effect on others. */
  ensureRecorded(): Promise<void>;
}

/** The run that a turn belongs to. */
export type TurnOwner = Pick<
  StepAttempt,
  "organization_id" | "run_id" | "workflow_id" | "project_id" | "asked_by" | "user_mark"
>;

/** What an attempt may do at this moment. */
export interface Permissions {
  /** False when the run has ended: the attempt may finish, without secrets. */
  live: boolean;
  /** Ids of the files that people have handed to the run. */
  files: string[];
  envelope: Envelope;
  /** Heads of the other streams that were requested. */
  heads: Map<string, StreamHead>;
}

/** A call of the platform by an attempt. */
export interface HostCall {
  step: StepAttempt;
  permissions: Permissions;
  /** Identifies the call among all of the step's calls: equal in every attempt. */
  call: string[];
  signal: AbortSignal;
}
