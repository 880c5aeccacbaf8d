import { z } from "zod";
import { ResponseFormat } from "#events/thread.ts";
import type { PlatformCall } from "./tick.ts";

/*
 * Inputs of the platform calls of steps: the host checks them when a step runs, the sandbox what it can read of them when a
 * definition is saved. Unknown fields are refused, because a misspelt field would be ignored silently.
 */

/** UTF-16 units of all messages of one request. */
const MAX_TEXT = 4_000_000;
/** Keys of `vars` (spec: Limits). */
const MAX_VARS = 32;

/** Keeps the object as it is. A record of zod would lose a key `__proto__`. */
const Fields = z.custom<Record<string, unknown>>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  "must be an object",
);
const Names = z.array(z.string().min(1).max(200)).max(100);
const Message = z.strictObject({
  role: z.enum(["system", "developer", "user", "assistant"]),
  content: z.string(),
});
export type InputMessage = z.infer<typeof Message>;

const isWithinLimit = (messages: InputMessage[]): boolean =>
  messages.reduce((sum, { content }) => sum + content.length, 0) <= MAX_TEXT;
const Messages = z
  .array(Message)
  .max(10_000)
  .refine(isWithinLimit, `must hold at most ${MAX_TEXT} characters`)
  .refine((messages) => messages.some(({ role }) => role === "user"), "must hold a user message");

const Chat = z
  .strictObject({
    model: z.string().min(1).max(512),
    messages: Messages,
    temperature: z.number().nullish(),
    top_p: z.number().nullish(),
    max_tokens: z.int().min(1).nullish(),
    stop: z.union([z.string(), z.array(z.string()).max(16)], "must be a string or up to 16 of them").nullish(),
    seed: z.int().nullish(),
    response_format: ResponseFormat.nullish(),
    /** Names of built-in and scripted tools. */
    tools: Names.nullish(),
    tool_choice: z
      .union(
        [
          z.enum(["none", "auto", "required"]),
          z.strictObject({ type: z.literal("function"), function: z.strictObject({ name: z.string() }) }),
        ],
        'must be "none", "auto", "required" or {"type": "function", "function": {"name": …}}',
      )
      .nullish(),
    /** Slugs or display names. */
    knowledge: z.strictObject({ collections: Names.nullish() }).nullish(),
  })
  .refine(({ response_format, tool_choice }) => !response_format || tool_choice !== "required", {
    path: ["response_format"],
    error: "cannot be combined with tool_choice required",
  })
  .refine(
    ({ tools, tool_choice: choice }) =>
      typeof choice !== "object" || !choice || tools?.includes(choice.function.name) === true,
    { path: ["tool_choice", "function", "name"], error: "must be one of tools" },
  );

const asMessages = (input: unknown): unknown =>
  typeof input === "string" ? [{ role: "user", content: input }] : input;
const endsWithText = (messages: InputMessage[]): boolean =>
  messages.findLast(({ role }) => role === "user")?.content.trim() !== "";

const Agent = z.strictObject({
  agent_id: z.uuid().toLowerCase(),
  /** A user message, or a conversation. */
  input: z.preprocess(asMessages, Messages.refine(endsWithText, "ends with an empty user message")),
  /** `meta.vars` of its tools. */
  vars: Fields.refine((vars) => Object.keys(vars).length <= MAX_VARS, `must have at most ${MAX_VARS} keys`).nullish(),
  /** A thread of the same run to continue. */
  thread_id: z.uuid().toLowerCase().nullish(),
});

const Search = z.strictObject({
  query: z.string().regex(/\S/, "must not be empty").max(10_000),
  /** Slugs or display names. */
  collections: Names.nullish(),
  tags: Names.nullish(),
  limit: z.int().min(1).max(25).nullish(),
});

const Read = z.strictObject({ document_id: z.string().max(100), from_seq: z.int().min(0).nullish() });

const Tool = z.strictObject({
  name: z.string().min(1).max(200),
  args: Fields.nullish(),
});

export const STEP_INPUTS = { chat: Chat, agent: Agent, search: Search, read: Read, tool: Tool } satisfies Record<
  PlatformCall,
  z.ZodType
>;
export type CallInput<What extends PlatformCall> = z.infer<(typeof STEP_INPUTS)[What]>;

/** Methods of a step's `fetch`. */
export const FETCH_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;
