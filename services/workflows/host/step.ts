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
  /** Who is behind the run. Its turns are counted for them. */
  asked_by: Actor;
  /** The mark of the run's external user. */
  user_mark: string | null;
  /** The step's key in its run (services/workflows/memoKey.ts). */
  key: string;
  /** The lease epoch of the coordinator that runs the attempt. */
  epoch: number;
  worker: string;
  /** Resolves when the start of the attempt is recorded. Before that, the attempt must have no effect on others. */
  ensureRecorded(): Promise<void>;
}

/** The run that asks for a turn. */
export type TurnOwner = Pick<
  StepAttempt,
  "organization_id" | "run_id" | "workflow_id" | "project_id" | "asked_by" | "user_mark"
>;

/** What an attempt may do now. */
export interface Permissions {
  /** Whether the run is live. If it has ended, the attempt may finish, but without secrets. */
  live: boolean;
  /** Ids of the files handed to the run by people. */
  files: string[];
  envelope: Envelope;
  /** Heads of the other streams that were requested. */
  heads: Map<string, StreamHead>;
}

/** An attempt's call of the platform. */
export interface HostCall {
  step: StepAttempt;
  permissions: Permissions;
  /** Identifies the call among the step's calls: equal in every attempt. */
  call: string[];
  signal: AbortSignal;
}
