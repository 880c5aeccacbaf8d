import { z } from "zod";
import { defineCommand, defineEvent, type CommandsIn, type EventsIn } from "./language.ts";
import { deriveId, streamName } from "./ids.ts";
import { CallKey, Lease, RunPart, StoredValue } from "./runParts.ts";

/* What ties a run to other streams: child runs that it starts, turns of agents, and waits for an end. Part of the run's stream. */

const Id = z.object({ run_id: z.uuid() });
const Call = Id.extend({ key: CallKey });
/** Why a call of `run()` fails. */
const Refusal = z.object({ code: z.string(), message: z.string() });
export type Refusal = z.infer<typeof Refusal>;

/** A run that must be notified when another one ends. `awaited_run_id`: the run that it waits for; null: this one. */
export const Watcher = z.object({ run_id: z.uuid(), awaited_run_id: z.uuid().nullable() });
export type Watcher = z.infer<typeof Watcher>;

/** Progress that the worker made after an answer and before it appends the command; `seen` is the version of the answer. */
const Progress = z.object({ seen: z.int().positive().optional(), parts: z.array(RunPart).optional() });

/** The start of a child run, or a wait, was refused: the run fails. Has no effect on a call that has its answer. */
export const RefuseCall = defineCommand(
  "RefuseCall",
  "run",
  Call.extend({
    refusal: Refusal,
    /** Where the source makes the call, from 1. */
    line: z.int().nullish(),
    column: z.int().nullish(),
  }),
);
/** Registers another run to be notified when this one ends. Has no effect on a run that has ended. */
export const WatchRun = defineCommand(
  "WatchRun",
  "run",
  Id.extend({
    watcher_id: z.uuid(),
    /** Set when this run continues the one that the watcher waits for. */
    awaited_run_id: z.uuid().optional(),
    /** Watchers that have ended without being notified: their places are free. */
    ended: z.array(z.uuid()).optional(),
  }),
);
/** Answers all waits of this run for the end of another one. */
export const AnswerRunWaits = defineCommand(
  "AnswerRunWaits",
  "run",
  Id.extend({ awaited_run_id: z.uuid(), answer: StoredValue }).extend(Progress.shape),
);
/** Records the progress of a turn that a call of `run()` asked for. Has no effect on a call that has its answer. */
export const RecordAgentTurn = defineCommand(
  "RecordAgentTurn",
  "run",
  Call.extend({
    /** The agent of a turn that has just started; absent: the turn is still running. */
    agent_id: z.uuid().optional(),
    look_at: z.iso.datetime(),
  }),
);
/** Answers the call that asked for a turn: it has ended, or could not start. */
export const AnswerAgentTurn = defineCommand(
  "AnswerAgentTurn",
  "run",
  Id.extend({ turn_id: z.uuid(), answer: StoredValue }),
);
/** Gives a message to a wait. Has no effect on a wait that has ended. */
export const DeliverMessage = defineCommand(
  "DeliverMessage",
  "run",
  Call.extend({ message_id: z.uuid(), answer: StoredValue }).extend(Progress.shape),
);
/** Records that everything the end of this run requires is done: its child runs are cancelled, and its watchers are notified. */
export const SettleRun = defineCommand("SettleRun", "run", Id);

const thing = (data: { run_id: string }) => streamName("run", data.run_id);
export const ChildRunRequested = defineEvent("ChildRunRequested", {
  public: Call.extend({
    child_run_id: z.uuid(),
    /** What happens to the child run when this one fails or is cancelled. */
    on_parent_end: z.enum(["cancel", "leave"]),
  }),
  /** `workflow`: the id or the name that `run()` gave. */
  personal: z.object({ workflow: z.string(), args: StoredValue }),
  thing,
});
export const ChildRunStarted = defineEvent("ChildRunStarted", { public: Call.extend({ child_run_id: z.uuid() }) });
/** `expires_at`: null waits as long as the run lives. */
export const RunWaitStarted = defineEvent("RunWaitStarted", {
  public: Call.extend({ awaited_run_id: z.uuid(), expires_at: z.iso.datetime().nullable() }),
});
/** `run()` waits for a message. `match`: JSON values of fields that the message must have. */
export const MessageWaitStarted = defineEvent("MessageWaitStarted", {
  public: Call.extend({ project_id: z.uuid().nullable(), expires_at: z.iso.datetime().nullable() }),
  personal: z.object({ name: z.string(), match: z.record(z.string(), z.unknown()) }),
  thing,
});
/** The awaited run will notify this one when it ends. */
export const RunWaitRegistered = defineEvent("RunWaitRegistered", { public: Call });
export const WaitAnswered = defineEvent("WaitAnswered", {
  public: Call.extend(Lease.shape).extend({
    /** The message that it was waiting for. */
    message_id: z.uuid().optional(),
  }),
  /** What the call returns. */
  personal: z.object({ answer: StoredValue }),
  thing,
});
export const WaitTimedOut = defineEvent("WaitTimedOut", { public: Call });
export const AgentTurnRequested = defineEvent("AgentTurnRequested", {
  public: Call.extend({ turn_id: z.uuid(), thread_id: z.uuid() }),
  /** `agent`: the id or the name that `run()` gave. `request`: JSON of the other arguments. */
  personal: z.object({ agent: z.string(), request: StoredValue }),
  thing,
});
/** `look_at`: when the run checks by itself whether the turn has ended, because the notification may be lost. */
export const AgentTurnStarted = defineEvent("AgentTurnStarted", {
  public: Call.extend({ turn_id: z.uuid(), thread_id: z.uuid(), agent_id: z.uuid(), look_at: z.iso.datetime() }),
});
/** The run has checked, and the turn is still running. */
export const AgentTurnPending = defineEvent("AgentTurnPending", { public: Call.extend({ look_at: z.iso.datetime() }) });
/** Another run waits for the end of this one. */
export const RunWatched = defineEvent("RunWatched", {
  public: Id.extend({
    watcher_id: z.uuid(),
    awaited_run_id: z.uuid().optional(),
    /** Watchers whose places became free. */
    ended: z.array(z.uuid()).optional(),
  }),
});
export const RunSettled = defineEvent("RunSettled", { public: Id });

/** Id of the run that a call of `run()` starts. It is derived, so that a second start finds the first. */
export const childRunId = (run_id: string, key: string): string => deriveId("child-run", run_id, key);

/** Id of the turn that a call of `run()` asks for, and of its thread unless it continues one. */
export const agentTurnIds = (run_id: string, key: string) => ({
  turn_id: deriveId("agent-turn", run_id, key),
  thread_id: deriveId("agent-thread", run_id, key),
});

/** Id of the run that continues a run after `continueAs`. */
export const continuationId = (run_id: string): string => deriveId("continued-run", run_id);

/** The claim held by the newest run of a chain, by which every run of the chain finds the newest one (ADR 57). */
export const chainClaim = (first_run_id: string): string => `run-chain:${first_run_id}`;

export type RunLinkCommand = CommandsIn<typeof import("./runLinks.ts")>;
export type RunLinkEvent = EventsIn<typeof import("./runLinks.ts")>;
