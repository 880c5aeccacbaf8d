import { z } from "zod";
import { ResponseFormat } from "#events/thread.ts";
import { StepFailure, type PlatformCall } from "../tick.ts";

/* What a step may send with each call. Fields of other names are refused: a misspelt one would silently mean nothing. */

/** Characters of all that is said in one request. */
const MAX_TEXT = 4_000_000;
/** Keys of `vars` (spec: Limits). */
const MAX_VARS = 32;

/** As it came: a record of zod's would lose a key `__proto__`. */
const Fields = z.custom<Record<string, unknown>>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  "must be an object",
);
const Names = z.array(z.string().min(1).max(200)).max(100);
const Message = z.strictObject({
  role: z.enum(["system", "developer", "user", "assistant"]),
  content: z.string(),
});
export type Said = z.infer<typeof Message>;

const isBrief = (messages: Said[]): boolean =>
  messages.reduce((sum, { content }) => sum + content.length, 0) <= MAX_TEXT;
const Messages = z
  .array(Message)
  .max(10_000)
  .refine(isBrief, `must hold at most ${MAX_TEXT} characters`)
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
const endsInWords = (messages: Said[]): boolean =>
  messages.findLast(({ role }) => role === "user")?.content.trim() !== "";

const Agent = z.strictObject({
  agent_id: z.uuid().toLowerCase(),
  /** What a user says, or a conversation. */
  input: z.preprocess(asMessages, Messages.refine(endsInWords, "ends with an empty user message")),
  /** What its tools get as `meta.vars`. */
  vars: Fields.refine((vars) => Object.keys(vars).length <= MAX_VARS, `must have at most ${MAX_VARS} keys`).nullish(),
  /** A thread of the same run to go on with. */
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

const INPUTS = { chat: Chat, agent: Agent, search: Search, read: Read, tool: Tool } satisfies Record<
  PlatformCall,
  z.ZodType
>;
export type InputOf<What extends PlatformCall> = z.infer<(typeof INPUTS)[What]>;

/** What the script's author can mend and no further attempt can. */
export const wrong = (message: string): StepFailure => new StepFailure("step_error", message, { final: true });

const placeOf = (path: PropertyKey[]): string =>
  path.map((part, n) => (typeof part === "number" ? `[${part}]` : `${n > 0 ? "." : ""}${String(part)}`)).join("");

/** The input of a call, checked. Throws a final StepFailure that names the field. */
export function checked<What extends PlatformCall>(what: What, input: unknown): InputOf<What> {
  const parsed = INPUTS[what].safeParse(input);
  if (parsed.success) return parsed.data as InputOf<What>;
  const { path, message } = parsed.error.issues[0]!;
  const place = placeOf(path);
  throw wrong(`${what}: ${place ? `${place}: ` : ""}${message}`);
}
