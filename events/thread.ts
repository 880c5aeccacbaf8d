import { z } from "zod";
import { defineCommand, defineEvent, type CommandFrom, type EventFrom, type StoredFields } from "./language.ts";
import { streamOf } from "./ids.ts";

/** A file in a conversation; its bytes are a blob sealed with the turn's data key. */
export const Attachment = z.object({
  filename: z.string(),
  mime_type: z.string(),
  bytes: z.int(),
  sha256: z.string(),
  blob: z.string(),
});
export type Attachment = z.infer<typeof Attachment>;

export const Message = z.object({
  role: z.enum(["user", "assistant"]),
  text: z.string(),
  attachments: z.array(Attachment),
});
export type Message = z.infer<typeof Message>;

export const ResponseFormat = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text") }),
  z.object({ type: z.literal("json_object") }),
  z.object({
    type: z.literal("json_schema"),
    json_schema: z.object({
      name: z.string(),
      description: z.string().optional(),
      schema: z.record(z.string(), z.unknown()),
      strict: z.boolean().nullish(),
    }),
  }),
]);
export type ResponseFormat = z.infer<typeof ResponseFormat>;

/** `none`: nothing is offered. A name, or `required`, holds until the first tools have run. */
export const ToolChoice = z.union([z.enum(["none", "auto", "required"]), z.object({ name: z.string() })]);
export type ToolChoice = z.infer<typeof ToolChoice>;

/** What prompts of before there were tools ask for. */
const NO_TOOLS = { tools: [] as string[], tool_choice: "auto" as const, knowledge: null };

/** What the caller wants of the model. Everything here may be the words of a person. */
export const Prompt = z.object({
  /** System and developer messages of this request, joined; never part of the thread. */
  instructions: z.string().nullable(),
  messages: z.array(Message),
  temperature: z.number().nullable(),
  top_p: z.number().nullable(),
  max_output_tokens: z.int().nullable(),
  stop: z.array(z.string()),
  seed: z.int().nullable(),
  response_format: ResponseFormat,
  user: z.string().nullable(),
  vars: z.record(z.string(), z.unknown()),
  /** Names of the tools that the model may call. */
  tools: z.array(z.string()).default(NO_TOOLS.tools),
  tool_choice: ToolChoice.default(NO_TOOLS.tool_choice),
  /** Ids of the collections that knowledge tools are limited to; null: all of the organization. */
  knowledge: z
    .object({ collections: z.array(z.uuid()) })
    .nullable()
    .default(NO_TOOLS.knowledge),
  /** What an agent adds to what its caller asks. */
  agent: z.object({ instructions: z.string(), reasoning_effort: z.string().nullable() }).optional(),
});
export type Prompt = z.infer<typeof Prompt>;

/** In the event itself, or as a blob of JSON where it would make the command larger than 256 KiB. */
export const PromptOrBlob = z.union([z.object({ prompt: Prompt }), z.object({ prompt_blob: z.string() })]);

export const FinishReason = z.enum(["stop", "length", "content_filter", "tool_calls"]);
export type FinishReason = z.infer<typeof FinishReason>;

/** Tokens of a whole turn. Cached tokens are part of the prompt's, reasoning tokens of the completion's. */
export const Usage = z.object({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  cached_tokens: z.int(),
  reasoning_tokens: z.int(),
});
export type Usage = z.infer<typeof Usage>;
export const NO_USAGE: Usage = { prompt_tokens: 0, completion_tokens: 0, cached_tokens: 0, reasoning_tokens: 0 };

/** A consulted source; the span counts UTF-16 units of the whole answer. */
export const Citation = z.object({ url: z.string(), title: z.string(), start_index: z.int(), end_index: z.int() });
export type Citation = z.infer<typeof Citation>;

/** A source that a tool has consulted. */
export const Source = z.object({ url: z.string(), title: z.string() });
export type Source = z.infer<typeof Source>;

/** What the model said. */
export const Said = z.object({ text: z.string(), reasoning: z.string(), citations: z.array(Citation) });
export type Said = z.infer<typeof Said>;

/** A tool that the model wants to have called; the arguments are JSON, if the model keeps to it. */
export const ToolCall = z.object({ id: z.string(), name: z.string(), arguments: z.string() });
export type ToolCall = z.infer<typeof ToolCall>;

const Turn = z.object({ turn_id: z.uuid() });
/** Work of an older attempt than the thread knows is refused. */
const Attempted = Turn.extend({ attempt: z.int().positive() });
/** The agent that a turn runs on. */
const AgentOfTurn = z.object({
  agent_id: z.uuid(),
  version: z.int().positive(),
  /** Whether its response shows its tool calls. */
  expose_tool_items: z.boolean(),
  /** The response that this one continues. */
  previous_turn_id: z.uuid().nullable(),
});
export type AgentOfTurn = z.infer<typeof AgentOfTurn>;
const Started = Turn.extend({
  scope: z.string(),
  /** Absent in a chat. */
  agent: AgentOfTurn.optional(),
  /** `provider/model`. */
  model: z.string(),
  streamed: z.boolean(),
  /** RFC 3339: after this the turn fails, whoever works on it. */
  ends_by: z.iso.datetime(),
});

/** Key of the blob of everything that readers were told (JSON); for responses, whose streams can be read again. */
const Told = z.object({ frames: z.string().optional() });

/** One answer of the model that asks for tools. */
const Round = Attempted.extend({ /** 0, 1, 2 … within the turn. */ round: z.int().nonnegative(), usage: Usage });
const Asked = Said.extend({
  calls: z.array(ToolCall),
  /** What the provider wants to see again with the tools' results; nobody else understands it. */
  opaque: z.unknown().optional(),
});
const Finished = Attempted.extend({
  round: z.int().nonnegative(),
  /** Which call of the round: 0, 1, 2 … */
  call: z.int().nonnegative(),
  /** Null where the model named a tool that was not offered. */
  name: z.string().nullable(),
  status: z.enum(["completed", "failed"]),
  duration_ms: z.int().nonnegative(),
});
const Result = z.object({
  /** What the model gets to read; a long one is a blob of the turn. */
  output: z.union([z.object({ text: z.string() }), z.object({ blob: z.string() })]),
  sources: z.array(Source),
});

export const StartTurn = defineCommand(
  "StartTurn",
  "thread",
  Started.extend({ input: PromptOrBlob, continues: z.boolean() }),
);
/** Nothing that the model asks for is done before this is recorded. */
export const RequestRound = defineCommand("RequestRound", "thread", Round.extend(Asked.shape));
export const FinishTool = defineCommand("FinishTool", "thread", Finished.extend(Result.shape));
export const CompleteTurn = defineCommand(
  "CompleteTurn",
  "thread",
  Attempted.extend(Told.shape).extend({ finish_reason: FinishReason, usage: Usage, said: Said }),
);
/** `refused`: the provider said no before anything was said; the thread stays as it was. */
export const RefuseTurn = defineCommand(
  "RefuseTurn",
  "thread",
  Attempted.extend({ code: z.string().nullable(), message: z.string() }),
);
export const FailTurn = defineCommand(
  "FailTurn",
  "thread",
  Attempted.extend(Told.shape).extend({ message: z.string(), usage: Usage, said: Said }),
);
/** The client of a streamed chat turn went away, or a response was cancelled: what was produced is kept. */
export const StopTurn = defineCommand(
  "StopTurn",
  "thread",
  Attempted.extend(Told.shape).extend({ usage: Usage, said: Said }),
);
/** A worker takes a turn whose worker is gone. */
export const TakeOverTurn = defineCommand(
  "TakeOverTurn",
  "thread",
  Turn.extend({ attempt: z.int().min(2), worker: z.string() }),
);
/** A response and what prompted it leave their thread. */
export const DeleteTurn = defineCommand("DeleteTurn", "thread", Turn.extend({ scope: z.string() }));
export const DeleteThread = defineCommand("DeleteThread", "thread", z.object({ scope: z.string() }));

const thing = (data: { turn_id: string }) => streamOf("turn", data.turn_id);
const withTools = ({ data, personal }: StoredFields): StoredFields => {
  const input = personal?.input as { prompt: object } | { prompt_blob: string } | undefined;
  if (!input || !("prompt" in input)) return { data, personal };
  return { data, personal: { ...personal, input: { prompt: { ...NO_TOOLS, ...input.prompt } } } };
};
export const TurnStarted = defineEvent("TurnStarted", {
  public: Started.extend({
    /** The worker that committed this and runs it at once; null when it had no room. */
    worker: z.string().nullable(),
    /** The command that started it: its outcome is forgotten when the turn is refused. */
    command_id: z.string(),
  }),
  personal: z.object({ input: PromptOrBlob }),
  thing,
  opens: true,
  version: 2,
  upcasts: { 1: withTools },
});
export const TurnTakenOver = defineEvent("TurnTakenOver", { public: Attempted.extend({ worker: z.string() }) });
/** From here on a worker that takes over goes on after this round; what it said has been said. */
export const RoundRequested = defineEvent("RoundRequested", { public: Round, personal: Asked, thing });
/** From here on this call is never made again. */
export const ToolFinished = defineEvent("ToolFinished", { public: Finished, personal: Result, thing });
export const TurnCompleted = defineEvent("TurnCompleted", {
  public: Attempted.extend(Told.shape).extend({ finish_reason: FinishReason, usage: Usage, model: z.string() }),
  personal: z.object({ said: Said }),
  thing,
});
export const TurnFailed = defineEvent("TurnFailed", {
  public: Attempted.extend(Told.shape).extend({ usage: Usage, model: z.string() }),
  personal: z.object({ said: Said, message: z.string() }),
  thing,
});
export const TurnStopped = defineEvent("TurnStopped", {
  public: Attempted.extend(Told.shape).extend({ usage: Usage, model: z.string() }),
  personal: z.object({ said: Said }),
  thing,
});
/** Nothing came of the turn and its data key is gone: the thread reads as if it had not been asked. */
export const TurnRefused = defineEvent("TurnRefused", { public: Attempted.extend({ code: z.string().nullable() }) });
export const TurnDeleted = defineEvent("TurnDeleted", { public: Turn });
export const ThreadDeleted = defineEvent("ThreadDeleted", { public: z.object({}) });

export type ThreadCommand =
  | CommandFrom<typeof StartTurn>
  | CommandFrom<typeof RequestRound>
  | CommandFrom<typeof FinishTool>
  | CommandFrom<typeof CompleteTurn>
  | CommandFrom<typeof RefuseTurn>
  | CommandFrom<typeof FailTurn>
  | CommandFrom<typeof StopTurn>
  | CommandFrom<typeof TakeOverTurn>
  | CommandFrom<typeof DeleteTurn>
  | CommandFrom<typeof DeleteThread>;
export type ThreadEvent =
  | EventFrom<typeof TurnStarted>
  | EventFrom<typeof TurnTakenOver>
  | EventFrom<typeof RoundRequested>
  | EventFrom<typeof ToolFinished>
  | EventFrom<typeof TurnCompleted>
  | EventFrom<typeof TurnFailed>
  | EventFrom<typeof TurnStopped>
  | EventFrom<typeof TurnRefused>
  | EventFrom<typeof TurnDeleted>
  | EventFrom<typeof ThreadDeleted>;
