import { z } from "zod";
import { DocumentText, ExternalId, MetadataInput, Tags, TextFormat } from "#events/documentInput.ts";
import { ResponseFormat } from "#events/thread.ts";

/*
 * Inputs of the platform calls of steps. The host checks them when a step runs; the sandbox checks what it can read of them when a
 * definition is saved. Unknown fields are refused, because a misspelt field would be ignored silently.
 */

/** Maximum UTF-16 units of all messages of one request. */
const MAX_TEXT = 4_000_000;
/** Maximum keys of `vars` (spec: Limits). */
const MAX_VARS = 32;

/** Keeps the object as it is: z.record would lose a key `__proto__`. */
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

/** The name of a file or a document. */
const Name = z.string().regex(/^[^\p{C}/\\]{1,200}$/u, "must be a name of 1 to 200 characters, without / and \\");
const Collection = z.string().min(1).max(200);

const Push = z.strictObject({
  /** Slug or display name. */
  collection: Collection,
  text: DocumentText,
  name: Name.nullish(),
  format: TextFormat.nullish(),
  tags: Tags.nullish(),
  metadata: MetadataInput.nullish(),
  /** Pushing the same id again replaces the document. */
  external_id: ExternalId.nullish(),
});

const Remove = z
  .strictObject({
    document_id: z.uuid().toLowerCase().nullish(),
    collection: Collection.nullish(),
    external_id: ExternalId.nullish(),
  })
  .refine(
    ({ document_id, collection, external_id }) =>
      document_id == null ? collection != null && external_id != null : collection == null && external_id == null,
    { path: ["document_id"], error: "is required, or collection and external_id instead" },
  );

/** Maximum bytes of a file that a step saves or reads, which is in the step's memory as a whole. */
export const MAX_FILE_BYTES = 4 * 1024 * 1024;
const CHARACTERS_OF_FILE = Math.ceil(MAX_FILE_BYTES / 3) * 4;
/** Decoders skip invalid characters, so the decoded bytes would be too few. */
const isBase64 = (text: string): boolean =>
  text.length % 4 === 0 &&
  Buffer.from(text, "base64").length === (text.length / 4) * 3 - /={0,2}$/.exec(text)![0].length;
const TOO_LARGE = `must have ${MAX_FILE_BYTES / 1024 / 1024} MiB at most`;

const SaveFile = z
  .strictObject({
    name: Name,
    text: z.string().max(MAX_FILE_BYTES, TOO_LARGE).nullish(),
    base64: z
      .string()
      .max(CHARACTERS_OF_FILE, TOO_LARGE)
      .refine(isBase64, "must be base64, without line ends")
      .nullish(),
    mime_type: z
      .string()
      .regex(/^[\w.+-]{1,100}\/[\w.+-]{1,100}$/, "must be a media type, such as text/csv")
      .nullish(),
  })
  .refine(({ text, base64 }) => (text == null) !== (base64 == null), {
    path: ["text"],
    error: "is required, or base64 instead",
  });

const ReadFile = z.strictObject({
  file_id: z.uuid().toLowerCase(),
  as: z.enum(["text", "base64"]).nullish(),
});

const Tool = z.strictObject({
  name: z.string().min(1).max(200),
  args: Fields.nullish(),
});

export const STEP_INPUTS = {
  chat: Chat,
  agent: Agent,
  search: Search,
  read: Read,
  push: Push,
  remove: Remove,
  save_file: SaveFile,
  read_file: ReadFile,
  tool: Tool,
} satisfies Record<string, z.ZodType>;
/** Calls of the platform that a step can make. */
export type PlatformCall = keyof typeof STEP_INPUTS;
export const isPlatformCall = (what: string): what is PlatformCall => Object.hasOwn(STEP_INPUTS, what);
export type CallInput<What extends PlatformCall> = z.infer<(typeof STEP_INPUTS)[What]>;

/** Methods of a step's `fetch`. */
export const FETCH_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;
