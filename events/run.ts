import { z } from "zod";
import { defineCommand, defineEvent, type CommandsIn, type EventsIn } from "./language.ts";
import type { ApprovalLinkCommand, ApprovalLinkEvent } from "./approvalLinks.ts";
import type { ApprovalPeopleCommand, ApprovalPeopleEvent } from "./approvalPeople.ts";
import { streamName } from "./ids.ts";
import {
  StoredValue,
  CallKey,
  Failure,
  Logs,
  SecretNames,
  ScheduledStep,
  BatchSettings,
  ApprovalTerms,
  ApprovalText,
  ApprovalIdentity,
  Warning,
  Lease,
  RunPart,
  ContinuationRules,
} from "./runParts.ts";
import { Watcher, type RunLinkCommand, type RunLinkEvent } from "./runLinks.ts";
import { AbsentDelegates, Actor, Ballot, ContinuedRun, ParentRun, RunStart, StarterRun } from "./runOrigin.ts";
import { ApprovalRules, RunLimits, RunAs } from "./workflow.ts";

const Id = z.object({ run_id: z.uuid() });
const RunSettings = Id.extend({
  workflow_id: z.uuid(),
  definition_id: z.uuid(),
  /** Fixed for the run: versions saved later do not affect it. */
  definition_version: z.int().positive(),
  project_id: z.uuid().nullable(),
  trigger_id: z.uuid().nullable(),
  ...RunStart.shape,
  run_as: RunAs,
  limits: RunLimits,
  /** RFC 3339: a run that is still live at this time fails. */
  expires_at: z.iso.datetime(),
  retention_days: z.int().positive(),
  approvals: ApprovalRules,
  /** The concurrency slot that the run occupies: a claim that one live run at a time holds. */
  slot: z.string().nullable(),
  parent: ParentRun.optional(),
  starter: StarterRun.optional(),
  continued_from: ContinuedRun.optional(),
  /** Runs that wait for the end of the chain. Each run of the chain passes them on to the next. */
  watchers: z.array(Watcher).optional(),
  /** The external user's mark, which per-user budgets count by. */
  user_mark: z.string().optional(),
  /** Child runs of earlier runs of the chain that are cancelled when it fails or is cancelled. */
  children: z.array(z.uuid()).optional(),
});
const RunInput = z.object({
  args: StoredValue,
  external_user_id: z.string().nullable(),
  /** Those headers of the request that started the run which its trigger lists. */
  headers: z.record(z.string(), z.string()).optional(),
  /** Answered calls of the parent, as chunks of JSON lists of `InheritedCall`. */
  inherited: z.array(StoredValue).optional(),
});

/** `parts`: progress that the worker made before it appends this command. */
export const StartRun = defineCommand(
  "StartRun",
  "run",
  RunSettings.extend(RunInput.shape).extend({ parts: z.array(RunPart).optional() }),
);
/**
 * Progress of a run in order, sent by the coordinator that holds it. `seen` is the stream version that the ticks are based on:
 * at any other version the ticks are void, while the entries about steps are still valid. An older epoch changes nothing.
 */
export const AdvanceRun = defineCommand(
  "AdvanceRun",
  "run",
  Id.extend({ epoch: z.int().positive(), seen: z.int().positive(), parts: z.array(RunPart) }),
);
/**
 * Applies everything that is due, and gives the run to a coordinator if none works on it. `lost`: its worker is gone.
 * An older epoch changes nothing.
 */
export const TakeRun = defineCommand(
  "TakeRun",
  "run",
  Id.extend({ epoch: z.int().positive(), worker: z.string(), lost: z.boolean() }),
);
export const DecideApproval = defineCommand(
  "DecideApproval",
  "run",
  Id.extend({ ...Ballot.shape, ...AbsentDelegates.shape }).extend({
    approval_id: z.uuid(),
    data: z.string().nullable(),
    comment: z.string().nullable(),
    /** Progress that the worker made after the decision and before it appends this command; `seen` is the version of the decision. */
    seen: z.int().positive().optional(),
    parts: z.array(RunPart).optional(),
  }),
);
export const CancelRun = defineCommand("CancelRun", "run", Id.extend({ by: Actor, reason: z.string().nullable() }));
/** Ends a run that no coordinator can continue: its code is gone, or it crashes every runner. */
export const FailRun = defineCommand(
  "FailRun",
  "run",
  Id.extend({ epoch: z.int().positive(), code: z.string(), error: Failure }),
);
/** Destroys a run whose retention has ended. Has no effect before `forget_at`, unless a rule of its organization or an erasure asks for it. */
export const ForgetRun = defineCommand("ForgetRun", "run", Id.extend({ by_rule: z.literal(true).optional() }));
/** Postpones the destruction of a run that a hold covers, so that the sweep can continue with others. */
export const KeepRun = defineCommand("KeepRun", "run", Id);

const thing = (data: { run_id: string }) => streamName("run", data.run_id);
const StepAttempt = Id.extend({ key: CallKey, name: z.string(), attempt: z.int().positive() });
/** RFC 3339 time of the event; it may be recorded a moment later, together with its successors. */
const EventTime = z.object({ at: z.iso.datetime().optional() });
export const eventTime = ({ data, recorded_at }: { data: object; recorded_at: Date }): Date =>
  "at" in data && typeof data.at === "string" ? new Date(data.at) : recorded_at;

const StepLogs = z.object({ logs: Logs });

/** `worker`: the process that committed this and drives the run at once; null if it has no capacity. */
export const RunCreated = defineEvent("RunCreated", {
  public: RunSettings.extend({
    /** The time that `run()` sees on every tick. */
    created_at: z.iso.datetime(),
    worker: z.string().nullable(),
  }),
  personal: RunInput,
  thing,
  opens: true,
});
/** The first tick. */
export const RunStarted = defineEvent("RunStarted", { public: Id.extend(EventTime.shape) });
export const RunTaken = defineEvent("RunTaken", {
  public: Id.extend(Lease.shape).extend({ reason: z.enum(["woken", "lost"]) }),
});
export const StepsScheduled = defineEvent("StepsScheduled", {
  public: Id.extend(EventTime.shape)
    .extend(BatchSettings.shape)
    .extend({ steps: z.array(ScheduledStep) }),
  /** In the order of the steps. */
  personal: z.object({ args: z.array(StoredValue) }),
  thing,
});
export const StepStarted = defineEvent("StepStarted", {
  public: StepAttempt.extend(EventTime.shape).extend({ worker: z.string() }),
});
export const StepCompleted = defineEvent("StepCompleted", {
  public: StepAttempt.extend(EventTime.shape).extend({ duration_ms: z.int(), secrets: SecretNames }),
  personal: StepLogs.extend({ result: StoredValue }),
  thing,
});
const FailedAttempt = StepAttempt.extend(EventTime.shape).extend({
  duration_ms: z.int(),
  code: z.string(),
  secrets: SecretNames,
});
export const StepAttemptFailed = defineEvent("StepAttemptFailed", {
  public: FailedAttempt.extend({ retry_at: z.iso.datetime() }),
  personal: StepLogs.extend({ error: Failure }),
  thing,
});
/** The worker that ran the attempt is gone, so the effects of the attempt are unknown. */
export const StepAttemptLost = defineEvent("StepAttemptLost", { public: StepAttempt });
export const StepFailed = defineEvent("StepFailed", {
  public: FailedAttempt,
  personal: StepLogs.extend({ error: Failure }),
  thing,
});
export const TimerStarted = defineEvent("TimerStarted", {
  public: Id.extend({ key: CallKey, fires_at: z.iso.datetime() }),
});
export const TimerFired = defineEvent("TimerFired", { public: Id.extend({ key: CallKey }) });
export const ValueNoted = defineEvent("ValueNoted", {
  public: Id.extend({ key: CallKey }),
  personal: z.object({ json: z.string() }),
  thing,
});
const RunApproval = Id.extend(ApprovalIdentity.shape);
export const ApprovalRequested = defineEvent("ApprovalRequested", {
  public: RunApproval.extend(ApprovalTerms.shape).extend({ workflow_id: z.uuid(), project_id: z.uuid().nullable() }),
  personal: ApprovalText,
  thing,
});
const Vote = Ballot.extend({ at: z.iso.datetime() });
/** `data`: JSON of the submitted form. */
const VoteText = z.object({ data: z.string().nullable(), comment: z.string().nullable() });
/** One of the votes on an approval that takes several. The vote that decides is followed by ApprovalDecided. */
export const ApprovalVoted = defineEvent("ApprovalVoted", {
  public: RunApproval.extend(Vote.shape),
  personal: VoteText,
  thing,
});
export const ApprovalDecided = defineEvent("ApprovalDecided", {
  public: RunApproval.extend(Lease.shape).extend(Vote.shape),
  personal: VoteText,
  thing,
});
const DueApproval = RunApproval.extend({ at: z.iso.datetime() });
/** The approval has waited for so long that people should be reminded of it. */
export const ApprovalReminded = defineEvent("ApprovalReminded", { public: DueApproval });
/** The people to whom it escalates may decide it, too. */
export const ApprovalEscalated = defineEvent("ApprovalEscalated", { public: DueApproval });
export const ApprovalExpired = defineEvent("ApprovalExpired", { public: DueApproval });
export const ApprovalCancelled = defineEvent("ApprovalCancelled", {
  public: RunApproval.extend({ reason: z.enum(["superseded", "run_ended"]) }),
});
export const RunWarned = defineEvent("RunWarned", {
  public: Id.extend(Warning.shape),
  personal: z.object({ message: z.string() }),
  thing,
});
export const RunLogged = defineEvent("RunLogged", { public: Id, personal: z.object({ logs: Logs }), thing });
/** A tick found no new work. */
export const RunParked = defineEvent("RunParked", { public: Id });
/** `settles`: child runs are to be cancelled or may still be starting, or other runs wait for this end. */
const RunEnd = Id.extend({ slot: z.string().nullable(), forget_at: z.iso.datetime(), settles: z.boolean().optional() });
export const RunCompleted = defineEvent("RunCompleted", {
  public: RunEnd.extend({ completion: z.enum(["explicit", "implicit"]) }),
  personal: z.object({ result: StoredValue }),
  thing,
});
export const RunFailed = defineEvent("RunFailed", {
  public: RunEnd.extend({ code: z.string(), key: z.string().nullable(), step: z.string().nullable() }),
  personal: z.object({ error: Failure }),
  thing,
});
export const RunCancelled = defineEvent("RunCancelled", {
  public: RunEnd.extend({ by: Actor }),
  personal: z.object({ reason: z.string().nullable() }),
  thing,
});
/**
 * `continueAs`: this run is over, and another one continues it. The next run takes over the concurrency slot and the watchers, so
 * `slot` is not released.
 */
export const RunContinued = defineEvent("RunContinued", {
  public: RunEnd.extend(ContinuationRules.shape).extend({ continued_as: z.uuid(), first_run_id: z.uuid() }),
  /** `args`: the arguments of the next run. */
  personal: z.object({ args: StoredValue }),
  thing,
});
export const RunKept = defineEvent("RunKept", { public: Id.extend({ forget_at: z.iso.datetime() }) });
export const RunForgotten = defineEvent("RunForgotten", { public: Id.extend({ start_place: z.string().optional() }) });

export type RunCommand =
  | CommandsIn<typeof import("./run.ts")>
  | RunLinkCommand
  | ApprovalLinkCommand
  | ApprovalPeopleCommand;
export type RunEvent = EventsIn<typeof import("./run.ts")> | RunLinkEvent | ApprovalLinkEvent | ApprovalPeopleEvent;
