import { z } from "zod";
import { defineCommand, defineEvent, type CommandsIn, type EventsIn, type StoredFields } from "./language.ts";
import { streamName } from "./ids.ts";
import { Labels } from "./labels.ts";
import { Money } from "./money.ts";
import { ExpectedThread, NO_TOOLS, PromptOrBlob } from "./prompt.ts";
import { Route } from "./route.ts";
import { Actor } from "./runOrigin.ts";
import type { ThreadApprovalCommand, ThreadApprovalEvent } from "./threadApprovals.ts";
import { Turn, TurnAttempt } from "./turnAttempt.ts";
import { Source, ToolCall, TurnOutput, Usage } from "./turnOutput.ts";

export {
  Attachment,
  EMPTY_PROMPT,
  Message,
  Prompt,
  PromptOrBlob,
  ResponseFormat,
  ToolChoice,
  ToolOffer,
} from "./prompt.ts";
export { Citation, NO_OUTPUT, NO_USAGE, Source, ToolCall, TurnOutput, Usage } from "./turnOutput.ts";

export const FinishReason = z.enum(["stop", "length", "content_filter", "tool_calls"]);
export type FinishReason = z.infer<typeof FinishReason>;

const TurnAgent = z.object({
  agent_id: z.uuid(),
  version: z.int().positive(),
  /** Whether the response shows tool calls. */
  expose_tool_items: z.boolean(),
  /** The response that this one continues. */
  previous_turn_id: z.uuid().nullable(),
});
export type TurnAgent = z.infer<typeof TurnAgent>;
const TurnSettings = Turn.extend({
  scope: z.string(),
  /** Absent in a chat. */
  agent: TurnAgent.optional(),
  /** Ids of the calls of the thread's last turn whose results are in the input. */
  answers: z.array(z.string()).optional(),
  /** The workflow whose step asked for the turn. */
  workflow_id: z.uuid().optional(),
  /** The run that is notified when the turn ends. */
  awaited_by: z.uuid().optional(),
  /** Who is behind the run that asked for the turn, and pays for it; absent: the sender of the command. */
  asked_by: Actor.optional(),
  /** The project that the turn is counted for: that of the key, the agent or the workflow. */
  project_id: z.uuid().optional(),
  /** Keyed hash of the request's `user` within its organization. */
  user_mark: z.string().optional(),
  /** What the caller says the turn is for. Only reports use it. */
  labels: Labels.optional(),
  /** `provider/model`, or an alias. */
  model: z.string(),
  /** The route of the alias: its models, and when the next one is tried. */
  route: Route.optional(),
  streamed: z.boolean(),
  /** RFC 3339: at this time the turn fails, even if a worker is running it. */
  ends_by: z.iso.datetime(),
  /** US dollars that budgets reserve for each of its requests until it has ended. Absent: no budget of money applies. */
  reserved: Money.optional(),
});

const { awaited_by } = TurnSettings.shape;

/** Key of the blob (JSON) with all frames that readers received. Only for responses, whose streams can be read again. */
const StoredFrames = z.object({ frames: z.string().optional() });

/** One model call that requested tools. */
const Round = TurnAttempt.extend({
  /** 0, 1, 2 … within the turn. */
  round: z.int().nonnegative(),
  usage: Usage,
  /** The target that answered, where the turn has a route. */
  model: z.string().optional(),
});
/** Of a turn with a route: the target that answered last, and the usage of each, if several did. */
const RoutedUsage = z.object({
  model: z.string().optional(),
  usage_by_model: z.array(z.object({ model: z.string(), usage: Usage })).optional(),
});
/** `budget_exceeded` or `budget_reserved`: a budget had no room for the turn's next request. Absent: another reason. */
const LimitCode = z.string().optional();
/** A target of the turn's route, or its model (`provider/model`), that failed to answer in a round. */
const FailedTarget = TurnAttempt.extend({
  round: z.int().nonnegative(),
  target: z.string(),
  /** The provider's status, `timeout`, `connection`, `cut`, `context_length`, `content_filter`, `refused`, `no_credential`, `circuit_open` (not asked) or
   * `worker_lost` (the process that asked was lost; also without an alias). */
  reason: z.string(),
  duration_ms: z.int().nonnegative(),
  /** Usage of the failed request: estimated if the answer broke off, or up to where a filter stopped it. Absent: nothing was used. */
  usage: Usage.optional(),
});
const RoundOutput = TurnOutput.extend({
  calls: z.array(ToolCall),
  /** Provider data that must be sent back with the tool results. Only the provider's driver understands it. */
  opaque: z.unknown().optional(),
});
const ToolCallOutcome = TurnAttempt.extend({
  round: z.int().nonnegative(),
  /** Index of the call in its round: 0, 1, 2 … */
  call: z.int().nonnegative(),
  /** Null if the model named a tool it was not offered. */
  name: z.string().nullable(),
  status: z.enum(["completed", "failed"]),
  duration_ms: z.int().nonnegative(),
  /** For a tool written by the organization: its version, and the names of the secrets it read. */
  tool_version: z.int().positive().optional(),
  secrets: z.array(z.string()).optional(),
  /** Bytes of an output in a blob. Absent: it is in the event, or was recorded before it was counted. */
  stored_bytes: z.int().nonnegative().optional(),
});
const ToolResult = z.object({
  /** The result that the model receives. A long one is stored as a blob of the turn. */
  output: z.union([z.object({ text: z.string() }), z.object({ blob: z.string() })]),
  sources: z.array(Source),
});

export const StartTurn = defineCommand(
  "StartTurn",
  "thread",
  TurnSettings.extend({
    input: PromptOrBlob,
    ...ExpectedThread.shape,
    /** Bytes that this turn stored outside the log. */
    stored_bytes: z.int().nonnegative().optional(),
  }),
);
/** Recorded before any tool of the round runs. */
export const RequestRound = defineCommand("RequestRound", "thread", Round.extend(RoundOutput.shape));
/** Recorded before another target, or the same one again, is asked. */
export const NoteTargetFailure = defineCommand("NoteTargetFailure", "thread", FailedTarget);
export const FinishTool = defineCommand("FinishTool", "thread", ToolCallOutcome.extend(ToolResult.shape));
export const CompleteTurn = defineCommand(
  "CompleteTurn",
  "thread",
  TurnAttempt.extend(StoredFrames.shape)
    .extend(RoutedUsage.shape)
    .extend({ finish_reason: FinishReason, usage: Usage, said: TurnOutput }),
);
/** The provider refused the request before any output. The thread stays unchanged. */
export const RefuseTurn = defineCommand(
  "RefuseTurn",
  "thread",
  TurnAttempt.extend({ code: z.string().nullable(), message: z.string() }),
);
export const FailTurn = defineCommand(
  "FailTurn",
  "thread",
  TurnAttempt.extend(StoredFrames.shape)
    .extend(RoutedUsage.shape)
    .extend({ code: LimitCode, message: z.string(), usage: Usage, said: TurnOutput }),
);
/** The client of a streamed chat turn disconnected, or a response was cancelled. The output so far is kept. */
export const StopTurn = defineCommand(
  "StopTurn",
  "thread",
  TurnAttempt.extend(StoredFrames.shape).extend(RoutedUsage.shape).extend({ usage: Usage, said: TurnOutput }),
);
/** A worker takes over a turn whose worker is gone. */
export const TakeOverTurn = defineCommand(
  "TakeOverTurn",
  "thread",
  Turn.extend({
    attempt: z.int().min(2),
    worker: z.string(),
    /** Whether the previous worker died while it had the turn, instead of handing it over. */
    worker_died: z.boolean().optional(),
  }),
);
/** Removes a response and its prompt from their thread. */
export const DeleteTurn = defineCommand("DeleteTurn", "thread", Turn.extend({ scope: z.string() }));
export const DeleteThread = defineCommand("DeleteThread", "thread", z.object({ scope: z.string() }));

const thing = (data: { turn_id: string }) => streamName("turn", data.turn_id);
const addToolDefaults = ({ data, personal }: StoredFields): StoredFields => {
  const input = personal?.input as { prompt: object } | { prompt_blob: string } | undefined;
  if (!input || !("prompt" in input)) return { data, personal };
  return { data, personal: { ...personal, input: { prompt: { ...NO_TOOLS, ...input.prompt } } } };
};
export const TurnStarted = defineEvent("TurnStarted", {
  public: TurnSettings.extend({
    /** The worker that committed this and runs the turn at once; null if it had no capacity. */
    worker: z.string().nullable(),
    /** The command that started the turn. If the turn is refused, the outcome of this command is deleted. */
    command_id: z.string(),
    /** Bytes of its attachments and of a prompt in a blob, each content counted once. Absent: none, or recorded before it was counted. */
    stored_bytes: z.int().nonnegative().optional(),
  }),
  personal: z.object({ input: PromptOrBlob }),
  thing,
  opens: true,
  version: 2,
  upcasts: { 1: addToolDefaults },
});
export const TurnTakenOver = defineEvent("TurnTakenOver", {
  public: TurnAttempt.extend({ worker: z.string(), worker_died: z.boolean().optional() }),
});
/** A worker that takes over after this event resumes after the round and does not repeat its output. */
export const RoundRequested = defineEvent("RoundRequested", { public: Round, personal: RoundOutput, thing });
/** A takeover counts this failure. With a route it does not repeat the request, unless the failure is `worker_lost`. */
export const TargetFailed = defineEvent("TargetFailed", { public: FailedTarget });
/** After this event the call is never made again. */
export const ToolFinished = defineEvent("ToolFinished", { public: ToolCallOutcome, personal: ToolResult, thing });
export const TurnCompleted = defineEvent("TurnCompleted", {
  public: TurnAttempt.extend(StoredFrames.shape).extend({
    awaited_by,
    finish_reason: FinishReason,
    usage: Usage,
    model: z.string(),
    usage_by_model: RoutedUsage.shape.usage_by_model,
    /** Ids of calls to the caller's own tools, whose results the next turn may bring. */
    open_calls: z.array(z.string()).optional(),
  }),
  personal: z.object({ said: TurnOutput }),
  thing,
});
export const TurnFailed = defineEvent("TurnFailed", {
  public: TurnAttempt.extend(StoredFrames.shape).extend({
    awaited_by,
    code: LimitCode,
    usage: Usage,
    model: z.string(),
    usage_by_model: RoutedUsage.shape.usage_by_model,
  }),
  personal: z.object({ said: TurnOutput, message: z.string() }),
  thing,
});
export const TurnStopped = defineEvent("TurnStopped", {
  public: TurnAttempt.extend(StoredFrames.shape).extend({
    awaited_by,
    usage: Usage,
    model: z.string(),
    usage_by_model: RoutedUsage.shape.usage_by_model,
  }),
  personal: z.object({ said: TurnOutput }),
  thing,
});
/** The turn leaves no trace in its thread: its data key is destroyed. `limit`: which budget refused it, and until when. */
export const TurnRefused = defineEvent("TurnRefused", {
  public: TurnAttempt.extend({ code: z.string().nullable(), limit: z.string().optional(), awaited_by }),
});
export const TurnDeleted = defineEvent("TurnDeleted", { public: Turn });
export const ThreadDeleted = defineEvent("ThreadDeleted", { public: z.object({}) });

export type ThreadCommand = CommandsIn<typeof import("./thread.ts")> | ThreadApprovalCommand;
export type ThreadEvent = EventsIn<typeof import("./thread.ts")> | ThreadApprovalEvent;
