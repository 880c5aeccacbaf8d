import { z } from "zod";
import { defineCommand, defineEvent, type CommandFrom, type EventFrom } from "./language.ts";
import { streamOf } from "./ids.ts";
import {
  Value,
  Key,
  Failure,
  Logs,
  Resolved,
  Scheduled,
  Batch,
  ApprovalTerms,
  ApprovalWords,
  Approval,
  Warning,
  Part,
} from "./runParts.ts";
import { ApprovalRules, Limits, RunAs } from "./workflow.ts";

/** Who did something to a run. */
export const Actor = z.object({ type: z.enum(["person", "api_key", "webhook", "system"]), id: z.string() });
export type Actor = z.infer<typeof Actor>;

const Id = z.object({ run_id: z.uuid() });
const Created = Id.extend({
  workflow_id: z.uuid(),
  definition_id: z.uuid(),
  /** The run stays on it, whatever is saved later. */
  definition_version: z.int().positive(),
  project_id: z.uuid().nullable(),
  trigger_id: z.uuid().nullable(),
  started_by: Actor,
  run_as: RunAs,
  limits: Limits,
  /** RFC 3339: a run that is still live then has failed. */
  expires_at: z.iso.datetime(),
  retention_days: z.int().positive(),
  approvals: ApprovalRules,
  /** Claim that only one live run holds: the place it takes of those that its envelope allows. */
  slot: z.string().nullable(),
});
const Given = z.object({ args: Value, external_user_id: z.string().nullable() });

/** `parts`: what has come to pass of it while it was on its way to the log, by whoever takes it there. */
export const StartRun = defineCommand(
  "StartRun",
  "run",
  Created.extend(Given.shape).extend({ parts: z.array(Part).optional() }),
);
/**
 * From the coordinator that holds the run: what has come to pass, in its order. `seen` is the version of the stream on which it
 * stands: after any other the ticks are void, and what is told of steps holds. One of an older epoch changes nothing.
 */
export const AdvanceRun = defineCommand(
  "AdvanceRun",
  "run",
  Id.extend({ epoch: z.int().positive(), seen: z.int().positive(), parts: z.array(Part) }),
);
/**
 * Attends to a run: what is due happens, and a coordinator takes it where nobody works on it. `lost`: its worker is gone.
 * Of an older epoch it does nothing.
 */
export const TakeRun = defineCommand(
  "TakeRun",
  "run",
  Id.extend({ epoch: z.int().positive(), worker: z.string(), lost: z.boolean() }),
);
export const DecideApproval = defineCommand(
  "DecideApproval",
  "run",
  Id.extend({
    approval_id: z.uuid(),
    decision: z.enum(["approve", "reject"]),
    by: Actor,
    data: z.string().nullable(),
    comment: z.string().nullable(),
    /** What has come to pass since, by whoever takes it to the log; it stands on the version `seen`, that of the decision. */
    seen: z.int().positive().optional(),
    parts: z.array(Part).optional(),
  }),
);
export const CancelRun = defineCommand("CancelRun", "run", Id.extend({ by: Actor, reason: z.string().nullable() }));
/** A coordinator cannot go on with a run: its code is gone, or breaks whoever runs it. */
export const FailRun = defineCommand(
  "FailRun",
  "run",
  Id.extend({ epoch: z.int().positive(), code: z.string(), error: Failure }),
);
/** Destroys a run that ended long enough ago; does nothing before its time. */
export const ForgetRun = defineCommand("ForgetRun", "run", Id);

const thing = (data: { run_id: string }) => streamOf("run", data.run_id);
const OfStep = Id.extend({ key: Key, name: z.string(), attempt: z.int().positive() });
/** RFC 3339: when it came to pass; it may be recorded a moment later, together with what followed. */
const At = z.object({ at: z.iso.datetime().optional() });
export const timeOf = ({ data, recorded_at }: { data: object; recorded_at: Date }): Date =>
  "at" in data && typeof data.at === "string" ? new Date(data.at) : recorded_at;

const Lease = z.object({ epoch: z.int().positive(), worker: z.string().nullable() });
const Ended = z.object({ logs: Logs });

/** `worker`: the process that has committed this and goes on at once; null when it has no room. */
export const RunCreated = defineEvent("RunCreated", {
  public: Created.extend({
    /** The time that `run()` sees, on every tick. */
    created_at: z.iso.datetime(),
    worker: z.string().nullable(),
  }),
  personal: Given,
  thing,
  opens: true,
});
/** The first tick. */
export const RunStarted = defineEvent("RunStarted", { public: Id.extend(At.shape) });
export const RunTaken = defineEvent("RunTaken", {
  public: Id.extend(Lease.shape).extend({ reason: z.enum(["woken", "lost"]) }),
});
export const StepsScheduled = defineEvent("StepsScheduled", {
  public: Id.extend(At.shape)
    .extend(Batch.shape)
    .extend({ steps: z.array(Scheduled) }),
  /** In the order of the steps. */
  personal: z.object({ args: z.array(Value) }),
  thing,
});
export const StepStarted = defineEvent("StepStarted", {
  public: OfStep.extend(At.shape).extend({ worker: z.string() }),
});
export const StepCompleted = defineEvent("StepCompleted", {
  public: OfStep.extend(At.shape).extend({ duration_ms: z.int(), secrets: Resolved }),
  personal: Ended.extend({ result: Value }),
  thing,
});
const AttemptFailed = OfStep.extend(At.shape).extend({ duration_ms: z.int(), code: z.string(), secrets: Resolved });
export const StepAttemptFailed = defineEvent("StepAttemptFailed", {
  public: AttemptFailed.extend({ retry_at: z.iso.datetime() }),
  personal: Ended.extend({ error: Failure }),
  thing,
});
/** The worker that ran the attempt is gone; what it did is unknown. */
export const StepAttemptLost = defineEvent("StepAttemptLost", { public: OfStep });
export const StepFailed = defineEvent("StepFailed", {
  public: AttemptFailed,
  personal: Ended.extend({ error: Failure }),
  thing,
});
export const TimerStarted = defineEvent("TimerStarted", {
  public: Id.extend({ key: Key, fires_at: z.iso.datetime() }),
});
export const TimerFired = defineEvent("TimerFired", { public: Id.extend({ key: Key }) });
export const ValueNoted = defineEvent("ValueNoted", {
  public: Id.extend({ key: Key }),
  personal: z.object({ json: z.string() }),
  thing,
});
const OfApproval = Id.extend(Approval.shape);
export const ApprovalRequested = defineEvent("ApprovalRequested", {
  public: OfApproval.extend(ApprovalTerms.shape).extend({ workflow_id: z.uuid(), project_id: z.uuid().nullable() }),
  personal: ApprovalWords,
  thing,
});
export const ApprovalDecided = defineEvent("ApprovalDecided", {
  public: OfApproval.extend(Lease.shape).extend({
    decision: z.enum(["approve", "reject"]),
    by: Actor,
    at: z.iso.datetime(),
  }),
  /** `data`: JSON of the filled form. */
  personal: z.object({ data: z.string().nullable(), comment: z.string().nullable() }),
  thing,
});
export const ApprovalExpired = defineEvent("ApprovalExpired", {
  public: OfApproval.extend({ at: z.iso.datetime() }),
});
export const ApprovalCancelled = defineEvent("ApprovalCancelled", {
  public: OfApproval.extend({ reason: z.enum(["superseded", "run_ended"]) }),
});
export const RunWarned = defineEvent("RunWarned", {
  public: Id.extend(Warning.shape),
  personal: z.object({ message: z.string() }),
  thing,
});
export const RunLogged = defineEvent("RunLogged", { public: Id, personal: z.object({ logs: Logs }), thing });
/** A tick that found nothing new to do. */
export const RunParked = defineEvent("RunParked", { public: Id });
const End = Id.extend({ slot: z.string().nullable(), forget_at: z.iso.datetime() });
export const RunCompleted = defineEvent("RunCompleted", {
  public: End.extend({ completion: z.enum(["explicit", "implicit"]) }),
  personal: z.object({ result: Value }),
  thing,
});
export const RunFailed = defineEvent("RunFailed", {
  public: End.extend({ code: z.string(), key: z.string().nullable(), step: z.string().nullable() }),
  personal: z.object({ error: Failure }),
  thing,
});
export const RunCancelled = defineEvent("RunCancelled", {
  public: End.extend({ by: Actor }),
  personal: z.object({ reason: z.string().nullable() }),
  thing,
});
export const RunForgotten = defineEvent("RunForgotten", { public: Id });

export type RunCommand =
  | CommandFrom<typeof StartRun>
  | CommandFrom<typeof AdvanceRun>
  | CommandFrom<typeof TakeRun>
  | CommandFrom<typeof DecideApproval>
  | CommandFrom<typeof CancelRun>
  | CommandFrom<typeof FailRun>
  | CommandFrom<typeof ForgetRun>;

export const RUN_EVENTS = [
  RunCreated,
  RunStarted,
  RunTaken,
  StepsScheduled,
  StepStarted,
  StepCompleted,
  StepAttemptFailed,
  StepAttemptLost,
  StepFailed,
  TimerStarted,
  TimerFired,
  ValueNoted,
  ApprovalRequested,
  ApprovalDecided,
  ApprovalExpired,
  ApprovalCancelled,
  RunWarned,
  RunLogged,
  RunParked,
  RunCompleted,
  RunFailed,
  RunCancelled,
  RunForgotten,
] as const;
export type RunEvent = EventFrom<(typeof RUN_EVENTS)[number]>;
