import { z } from "zod";

/** JSON of a value, character by character as it was; a long one is a blob of the run. */
export const Value = z.union([z.object({ json: z.string() }), z.object({ blob: z.string(), bytes: z.int() })]);
export type Value = z.infer<typeof Value>;

/** What a call of `run()` is known by: its kind, name and the structure of its arguments (services/workflows/memoKey.ts). */
export const Key = z.string().length(22);

export const Failure = z.object({ message: z.string(), line: z.int().nullable().default(null) });
/** Lines that a step or `run()` wrote. */
export const Logs = z.array(z.string());

/** Names of the secrets that an attempt was given. */
export const Resolved = z.array(z.string());

export const Scheduled = z.object({
  key: Key,
  name: z.string(),
  /** Items of one runStepMany share it: the key of its first item. */
  batch: z.string().nullable(),
  /** Which of its batch. */
  index: z.int().nonnegative().nullable(),
});
export const Batch = z.object({
  /** How many of a batch run at once; null outside one. */
  concurrency: z.int().positive().nullable(),
  /** Whether a step that fails for good fails the run, or is told to `run()`. */
  on_error: z.enum(["fail", "return"]),
});
/** People (ids), groups or roles that may decide; none: everybody who may decide at all. */
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
});
export const ApprovalWords = z.object({
  name: z.string(),
  title: z.string(),
  body: z.string().nullable(),
  /** JSON Schema of what the one who decides fills in. */
  form: z.record(z.string(), z.unknown()).nullable(),
  assignees: z.array(Assignee).max(50),
});
export const Approval = z.object({ key: Key, approval_id: z.uuid() });
export const WARNINGS = ["signal_swallowed", "step_args_changed", "nested_signal"] as const;
export const Warning = z.object({
  code: z.enum(WARNINGS),
  /** The step or call that it is about. */
  call: z.string().nullable(),
  line: z.int().nullable(),
});

/** What has become of a step, as its coordinator tells it. */
export const Entry = z.discriminatedUnion("type", [
  z.object({ type: z.literal("step_started"), key: Key, attempt: z.int().positive() }),
  z.object({
    type: z.literal("step_completed"),
    key: Key,
    attempt: z.int().positive(),
    duration_ms: z.int().nonnegative(),
    result: Value,
    logs: Logs,
    secrets: Resolved,
  }),
  z.object({
    type: z.literal("step_attempt_failed"),
    key: Key,
    attempt: z.int().positive(),
    duration_ms: z.int().nonnegative(),
    code: z.string(),
    /** RFC 3339 of the next attempt; null: there is none, and the step has failed. */
    retry_at: z.iso.datetime().nullable(),
    error: Failure,
    logs: Logs,
    secrets: Resolved,
  }),
]);
export type Entry = z.infer<typeof Entry>;

/** What one re-execution of `run()` came to. */
export const TickResult = z.object({
  schedule: z.array(Batch.extend({ steps: z.array(Scheduled.extend({ args: Value })) })),
  /** Steps that begin in the same breath. */
  start: z.array(Key),
  timers: z.array(z.object({ key: Key, fires_at: z.iso.datetime() })),
  approvals: z.array(Approval.extend(ApprovalTerms.shape).extend(ApprovalWords.shape)),
  /** Pending approvals that `run()` asks for no longer. */
  superseded: z.array(z.uuid()),
  /** Values that were fixed when they were first asked for (`now`). */
  notes: z.array(z.object({ key: Key, json: z.string() })),
  warnings: z.array(Warning.extend({ message: z.string() })),
  logs: Logs,
  end: z
    .discriminatedUnion("type", [
      z.object({ type: z.literal("completed"), completion: z.enum(["explicit", "implicit"]), result: Value }),
      z.object({ type: z.literal("failed"), code: z.string(), step: z.string().nullable(), error: Failure }),
    ])
    .nullable(),
});
export type TickResult = z.infer<typeof TickResult>;

/** What steps came to, and what `run()` wants then. */
export const Part = z.object({ at: z.iso.datetime(), entries: z.array(Entry), tick: TickResult.nullable() });
export type Part = z.infer<typeof Part>;
