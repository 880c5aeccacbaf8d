import { z } from "zod";
import { ApprovalRules, RunLimits } from "./workflow.ts";

/** The exact JSON of a value. A long one is stored as a blob of the run. */
export const StoredValue = z.union([z.object({ json: z.string() }), z.object({ blob: z.string(), bytes: z.int() })]);
export type StoredValue = z.infer<typeof StoredValue>;

/** Identifies a call within `run()` by its kind, its name and the structure of its arguments (services/workflows/memoKey.ts). */
export const CallKey = z.string().length(22);

/** Why a step or a run failed, and where in the author's source. */
export const Failure = z.object({
  message: z.string(),
  line: z.int().nullable().default(null),
  column: z.int().nullable().optional(),
});
export type Failure = z.infer<typeof Failure>;
/** Lines that a step or `run()` wrote. */
export const Logs = z.array(z.string());

/** Names of the secrets that an attempt has read. */
export const SecretNames = z.array(z.string());

export const ScheduledStep = z.object({
  key: CallKey,
  name: z.string(),
  /** Call key of the first item; all items of one `runStepMany` share it. Null outside a batch. */
  batch: z.string().nullable(),
  /** Index within the batch. */
  index: z.int().nonnegative().nullable(),
});
export const BatchSettings = z.object({
  /** Items of the batch that run at the same time; null outside a batch. */
  concurrency: z.int().positive().nullable(),
  /** After the last attempt failed: `fail` fails the run, `return` returns the error to `run()`. */
  on_error: z.enum(["fail", "return"]),
});
/** A person (id), group or role that may decide an approval. Without assignees, everybody with the permission may. */
export const Assignee = z.union([
  z.object({ person: z.string().max(200) }),
  z.object({ group: z.string().max(200) }),
  z.object({ role: z.string().max(200) }),
]);
export const ApprovalTerms = z.object({
  self_approval: z.boolean(),
  allow_api_key: z.boolean(),
  expires_at: z.iso.datetime(),
  on_expiry: z.enum(["return", "reject", "fail"]),
  /** RFC 3339; from then on, the approval is shown first. */
  remind_at: z.iso.datetime().optional(),
  /** RFC 3339; from then on, those of `escalate_to` may decide, too. */
  escalate_at: z.iso.datetime().optional(),
  /** Set if the approval takes the votes of several people. */
  votes: z
    .object({
      /** Number of equal votes that decides. */
      required: z.int().min(2),
      /** Whether the first rejection decides. */
      one_rejection_ends: z.boolean(),
    })
    .optional(),
});
export const ApprovalText = z.object({
  name: z.string(),
  title: z.string(),
  body: z.string().nullable(),
  /** JSON Schema of the form that the decider of the approval fills in. */
  form: z.record(z.string(), z.unknown()).nullable(),
  assignees: z.array(Assignee).max(50),
  escalate_to: z.array(Assignee).max(50).optional(),
  /** Files (ids). */
  attachments: z.array(z.uuid()).max(20).optional(),
});
export const ApprovalIdentity = z.object({ key: CallKey, approval_id: z.uuid() });
export const WARNINGS = ["signal_swallowed", "step_args_changed", "nested_signal"] as const;
export const Warning = z.object({
  code: z.enum(WARNINGS),
  /** The step or call that caused it. */
  call: z.string().nullable(),
  line: z.int().nullable(),
});

/** The start or the end of an attempt at a step, as the coordinator reports it. */
export const StepEntry = z.discriminatedUnion("type", [
  z.object({ type: z.literal("step_started"), key: CallKey, attempt: z.int().positive() }),
  z.object({
    type: z.literal("step_completed"),
    key: CallKey,
    attempt: z.int().positive(),
    duration_ms: z.int().nonnegative(),
    result: StoredValue,
    logs: Logs,
    secrets: SecretNames,
  }),
  z.object({
    type: z.literal("step_attempt_failed"),
    key: CallKey,
    attempt: z.int().positive(),
    duration_ms: z.int().nonnegative(),
    code: z.string(),
    /** RFC 3339 time of the next attempt; null: there is none, and the step has failed. */
    retry_at: z.iso.datetime().nullable(),
    error: Failure,
    logs: Logs,
    secrets: SecretNames,
  }),
]);
export type StepEntry = z.infer<typeof StepEntry>;

/** The process that drives a run from now on; null if none has capacity. */
export const Lease = z.object({ epoch: z.int().positive(), worker: z.string().nullable() });

/** The rules of a run that continues another one: those of the workflow when it starts. */
export const ContinuationRules = z.object({
  definition_version: z.int().positive(),
  limits: RunLimits,
  approvals: ApprovalRules,
  retention_days: z.int().positive(),
});
export type ContinuationRules = z.infer<typeof ContinuationRules>;

/** The result of one tick, that is, one execution of `run()`. */
export const TickResult = z.object({
  schedule: z.array(BatchSettings.extend({ steps: z.array(ScheduledStep.extend({ args: StoredValue })) })),
  /** Steps that start in the same commit. */
  start: z.array(CallKey),
  timers: z.array(z.object({ key: CallKey, fires_at: z.iso.datetime() })),
  /** Runs to start. */
  children: z.array(
    z.object({
      key: CallKey,
      child_run_id: z.uuid(),
      workflow: z.string(),
      args: StoredValue,
      on_parent_end: z.enum(["cancel", "leave"]),
    }),
  ),
  /** Runs whose end is awaited. */
  runWaits: z.array(z.object({ key: CallKey, awaited_run_id: z.uuid(), expires_at: z.iso.datetime().nullable() })),
  messageWaits: z.array(
    z.object({
      key: CallKey,
      name: z.string(),
      match: z.record(z.string(), z.unknown()),
      expires_at: z.iso.datetime().nullable(),
    }),
  ),
  agentTurns: z.array(
    z.object({ key: CallKey, turn_id: z.uuid(), thread_id: z.uuid(), agent: z.string(), request: StoredValue }),
  ),
  approvals: z.array(ApprovalIdentity.extend(ApprovalTerms.shape).extend(ApprovalText.shape)),
  /** Ids of pending approvals that `run()` no longer requests. */
  superseded: z.array(z.uuid()),
  /** Values that are fixed at their first use (`now`). */
  notes: z.array(z.object({ key: CallKey, json: z.string() })),
  warnings: z.array(Warning.extend({ message: z.string() })),
  logs: Logs,
  end: z
    .discriminatedUnion("type", [
      z.object({ type: z.literal("completed"), completion: z.enum(["explicit", "implicit"]), result: StoredValue }),
      z.object({ type: z.literal("failed"), code: z.string(), step: z.string().nullable(), error: Failure }),
      ContinuationRules.extend({ type: z.literal("continued"), args: StoredValue }),
    ])
    .nullable(),
});
export type TickResult = z.infer<typeof TickResult>;

/** What the coordinator did for a call that links the run to another stream. */
export const LinkEntry = z.discriminatedUnion("type", [
  z.object({ type: z.literal("child_started"), key: CallKey }),
  z.object({ type: z.literal("wait_registered"), key: CallKey }),
  z.object({ type: z.literal("wait_answered"), awaited_run_id: z.uuid(), answer: StoredValue }),
]);
export type LinkEntry = z.infer<typeof LinkEntry>;

/** Entries about other runs and about steps, and the tick computed from them. */
export const RunPart = z.object({
  at: z.iso.datetime(),
  links: z.array(LinkEntry).optional(),
  entries: z.array(StepEntry),
  tick: TickResult.nullable(),
});
export type RunPart = z.infer<typeof RunPart>;
