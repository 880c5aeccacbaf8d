import { z } from "zod";
import { ToolApprovals } from "./toolApproval.ts";
import { ToolCall } from "./turnOutput.ts";

/** A file in a conversation. Its bytes are a blob, sealed with the data key of the turn or of the file that was attached. */
export const Attachment = z.object({
  filename: z.string(),
  mime_type: z.string(),
  bytes: z.int(),
  sha256: z.string(),
  blob: z.string(),
  /** The attached file and its data key, so that the turn can read it even after the file is deleted. Absent for inline bytes. */
  sealed_by: z.object({ thing: z.string(), wrapped_key: z.string() }).optional(),
});
export type Attachment = z.infer<typeof Attachment>;

export const Message = z.object({
  /** `tool`: the result of a call of one of the caller's own tools. */
  role: z.enum(["user", "assistant", "tool"]),
  text: z.string(),
  attachments: z.array(Attachment),
  /** Of an assistant's message: calls of the caller's own tools. */
  calls: z.array(ToolCall).optional(),
  /** Of a result: the id of its call. */
  call_id: z.string().optional(),
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

/** `none`: the model gets no tools. A name, or `required`, applies until the first tools have run. */
export const ToolChoice = z.union([z.enum(["none", "auto", "required"]), z.object({ name: z.string() })]);
export type ToolChoice = z.infer<typeof ToolChoice>;

/** Defaults for prompts that were recorded before there were tools. */
export const NO_TOOLS = { tools: [] as string[], tool_choice: "auto" as const, knowledge: null };

/** A tool as a model sees it; `parameters` is a JSON schema. */
export const ToolOffer = z.object({
  name: z.string(),
  description: z.string(),
  parameters: z.record(z.string(), z.unknown()),
});
export type ToolOffer = z.infer<typeof ToolOffer>;

/** The caller's request to the model. Every field may contain personal data. */
export const Prompt = z.object({
  /** The joined system and developer messages of this request. They never become part of the thread. */
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
  /** The caller's own tools. They do not run here: a call to one ends the turn. */
  client_tools: z.array(ToolOffer).optional(),
  /** Ids of the collections that knowledge tools are limited to; null: all of the organization. */
  knowledge: z
    .object({ collections: z.array(z.uuid()) })
    .nullable()
    .default(NO_TOOLS.knowledge),
  /** Added by the agent that runs the turn. */
  agent: z
    .object({
      instructions: z.string(),
      reasoning_effort: z.string().nullable(),
      /** Tools whose calls wait for a person. */
      tool_approvals: ToolApprovals.optional(),
    })
    .optional(),
});
export type Prompt = z.infer<typeof Prompt>;

/** A prompt that sets nothing and offers no tools. */
export const EMPTY_PROMPT: Prompt = {
  instructions: null,
  messages: [],
  temperature: null,
  top_p: null,
  max_output_tokens: null,
  stop: [],
  seed: null,
  response_format: { type: "text" },
  user: null,
  vars: {},
  ...NO_TOOLS,
};

/** A prompt that would make the command larger than 256 KiB is stored as a blob of JSON. */
export const PromptOrBlob = z.union([
  z.object({ prompt: Prompt }),
  z.object({
    prompt_blob: z.string(),
    /** Length of the JSON in bytes, and the user's first words (see `titleOf`); absent in events recorded before these fields. */
    bytes: z.int().optional(),
    title: z.string().optional(),
  }),
]);
export type PromptOrBlob = z.infer<typeof PromptOrBlob>;

/** What a new turn requires of its thread. */
export const ExpectedThread = z.object({
  /** Whether the thread exists. */
  continues: z.boolean(),
  /** The thread's newest turn, whose vars were merged into those of the new turn; null: it has none. Absent: any. */
  follows: z.uuid().nullable().optional(),
});
