import { z } from "zod";
import { defineCommand, defineEvent, type CommandsIn, type EventsIn } from "./language.ts";
import { deriveCommandId, deriveId, streamName } from "./ids.ts";
import { RunAs } from "./workflow.ts";

/* A schedule is a trigger that starts runs at due times. Its events are part of the trigger's stream. */

export const ScheduleRule = z.union([
  /** `time_zone`: an IANA name. */
  z.object({ cron: z.string(), time_zone: z.string() }),
  /** Seconds, counted from `from`. */
  z.object({ every: z.int().positive(), from: z.iso.datetime() }),
  z.object({ at: z.iso.datetime() }),
]);
export type ScheduleRule = z.infer<typeof ScheduleRule>;

/** What happens at a due time while the run of an earlier one is still live. */
export const OVERLAPS = ["skip", "queue", "cancel"] as const;
/** Which of the due times that were missed, because no process was running, start a run afterwards. */
export const MISSED_RULES = ["one", "all", "none"] as const;

const Settings = z.object({
  rule: ScheduleRule,
  /** The upper limit of a delay that is added to each start, so that schedules with the same time do not start together. */
  jitter_seconds: z.int().min(0),
  overlap: z.enum(OVERLAPS),
  missed: z.enum(MISSED_RULES),
});
export type ScheduleSettings = z.infer<typeof Settings>;

/** `due_at` is the time by the rule; `fires_at` adds the jitter. */
const DueTime = z.object({ due_at: z.iso.datetime(), fires_at: z.iso.datetime() });
export type DueTime = z.infer<typeof DueTime>;

const Id = z.object({ trigger_id: z.uuid() });
const Next = z.object({
  /** Null: the schedule has no further time. */
  next: DueTime.nullable(),
});
const Owner = Id.extend({
  workflow_id: z.uuid(),
  /** Overrides the workflow's `run_as`; null: no override. */
  run_as: RunAs.nullable(),
});
/** `args`: JSON of an object. */
const Personal = z.object({ name: z.string().max(200), args: z.string() });
const Run = Id.extend({ due_at: z.iso.datetime(), run_id: z.uuid() });
/** The process that works on the schedule's open starts. */
const Lease = z.object({ epoch: z.int().nonnegative(), worker: z.string().nullable() });

/** Intervals (`every`) count from the command's time. */
export const NewRule = z.union([
  ScheduleRule.options[0],
  ScheduleRule.options[1].omit({ from: true }),
  ScheduleRule.options[2],
]);
export type NewRule = z.infer<typeof NewRule>;
export const CreateSchedule = defineCommand(
  "CreateSchedule",
  "trigger",
  Owner.extend(Settings.shape).extend(Personal.shape).extend({ rule: NewRule }),
);
/** Fields left out keep their value. */
export const ChangeSchedule = defineCommand(
  "ChangeSchedule",
  "trigger",
  Id.extend(Settings.extend(Personal.shape).extend({ rule: NewRule, paused: z.boolean() }).partial().shape),
);
/** Decides what happens at a due time. Has no effect if it is too early, or not the schedule's next due time. */
export const FireSchedule = defineCommand(
  "FireSchedule",
  "trigger",
  Id.extend({
    due_at: z.iso.datetime(),
    /** Whether the run of an earlier due time is still live. */
    overlaps: z.boolean(),
    /** The stream version that the command was decided on. It has no effect at any other version. */
    seen: z.int().optional(),
    /** Whether a limit let no run start at the due time. No run makes up for it then, or for those that were due since. */
    limited: z.boolean().optional(),
  }),
);
/** Starts the first due time in the queue: the run that it waited for has ended. */
export const StartQueuedRun = defineCommand(
  "StartQueuedRun",
  "trigger",
  Id.extend({ epoch: z.int(), due_at: z.iso.datetime() }),
);
/** Gives the open work of a lost process to another one. */
export const TakeSchedule = defineCommand("TakeSchedule", "trigger", Id.extend({ epoch: z.int(), worker: z.string() }));
/** Records the outcome of a start. */
export const RecordScheduledRun = defineCommand(
  "RecordScheduledRun",
  "trigger",
  Id.extend({
    due_at: z.iso.datetime(),
    /** Null: the run was started. */
    refusal: z.object({ code: z.string(), message: z.string() }).nullable(),
  }),
);

const thing = (data: { trigger_id: string }) => streamName("trigger", data.trigger_id);
export const ScheduleCreated = defineEvent("ScheduleCreated", {
  public: Owner.extend(Settings.shape).extend(Next.shape),
  personal: Personal,
  thing,
  opens: true,
});
/** Holds all settings, not only the changed ones. */
export const ScheduleChanged = defineEvent("ScheduleChanged", {
  public: Id.extend(Settings.shape).extend(Next.shape).extend({ changes_args: z.boolean() }),
  personal: Personal.partial(),
  thing,
});
export const SchedulePaused = defineEvent("SchedulePaused", { public: Id });
export const ScheduleResumed = defineEvent("ScheduleResumed", { public: Id.extend(Next.shape) });
/** Records what happens at a due time, and which due time is next. */
export const ScheduleFired = defineEvent("ScheduleFired", {
  public: Id.extend(Next.shape)
    .extend(Lease.shape)
    .extend({
      due_at: z.iso.datetime(),
      action: z.enum(["start", "queue", "skip"]),
      /** The live run that is cancelled before this one starts. */
      cancels: z.uuid().nullable(),
    }),
});
/** The due times from `first_due_at` until `next` start no run: no process could handle them in time. */
export const ScheduleTimesMissed = defineEvent("ScheduleTimesMissed", {
  public: Id.extend(Next.shape).extend({ first_due_at: z.iso.datetime() }),
});
/** The run of the first due time in the queue is about to start. */
export const ScheduleDequeued = defineEvent("ScheduleDequeued", { public: Id.extend({ due_at: z.iso.datetime() }) });
export const ScheduleTaken = defineEvent("ScheduleTaken", { public: Id.extend(Lease.shape) });
export const ScheduledRunStarted = defineEvent("ScheduledRunStarted", { public: Run });
export const ScheduledRunRefused = defineEvent("ScheduledRunRefused", {
  public: Id.extend({ due_at: z.iso.datetime(), code: z.string() }),
  personal: z.object({ message: z.string() }),
  thing,
});

/** Id of the run of a due time. It is derived, so that a second start finds the first. */
export const scheduledRunId = (trigger_id: string, due_at: string): string =>
  deriveId("scheduled-run", trigger_id, due_at);
/** Id of the command that starts it. `attempt` counts attempts to claim a concurrency slot. */
export const scheduledRunCommandId = (trigger_id: string, due_at: string, attempt: number): string =>
  deriveCommandId("scheduled-run", trigger_id, due_at, attempt);

/** Events by a person who decides what the schedule starts, and who answers for its runs from then on. */
export const SCHEDULE_SET_BY = [ScheduleCreated.type, ScheduleChanged.type, ScheduleResumed.type] as const;

export type ScheduleCommand = CommandsIn<typeof import("./schedule.ts")>;
export type ScheduleEvent = EventsIn<typeof import("./schedule.ts")>;
