import { z } from "zod";
import { Citation } from "#events/turnOutput.ts";
import { refuseInexact } from "../base/exactNumbers.ts";
import { MAX_COLLECTIONS } from "../base/limits.ts";
import type { FieldCodes } from "../base/validate.ts";
import { ToolCall } from "../turns/callShape.ts";

/* The chat completion request and answer (spec: Resources, Chat completion request). */

const given = (wanted: string) => ({ error: `must be ${wanted}` });
const string = (wanted = "a string") => z.string(given(wanted));
const number = () => z.number(given("a number"));
const MAX_WHOLE = 2 ** 64;
/** Clients send whole numbers of 64 bits, which `z.int` refuses from 2^53 on. */
const anyWhole = () =>
  z
    .number(given("a whole number"))
    .refine(Number.isInteger, "must be a whole number")
    .refine((sent) => Math.abs(sent) <= MAX_WHOLE, "must have at most 64 bits");
const wholeNumber = () => anyWhole().meta({ type: "integer" });
const tokenLimit = () =>
  anyWhole()
    .refine((limit) => limit >= 1, "must be at least 1")
    .meta({ type: "integer", minimum: 1 });

/* Parts of unknown types are ignored, whatever their fields. `readMessages` parses the content of a message once its role is known. */
const Part = z.object(
  {
    type: string(),
    text: z.unknown().optional().describe("A string, of a `text` part."),
    image_url: z.unknown().optional().describe("Of an `image_url` part: `{url}`, a base64 `data:` URL."),
    file: z.unknown().optional().describe("Of a `file` part: `file_data` (with `filename`) or `file_id`."),
  },
  given("an object with a type"),
);
export type Part = z.infer<typeof Part>;

export const Content = z.union([z.string(), z.array(Part)], given("a string or an array of parts")).nullish();
export type Content = z.infer<typeof Content>;

const Message = z.object(
  {
    role: string("one of system, developer, user, assistant, tool"),
    content: z.unknown().optional().describe("A string, or parts with a `type`."),
    tool_calls: z.unknown().optional().describe("Of an assistant's message; read for a key with `client_tools`."),
    tool_call_id: z.unknown().optional().describe("Of a tool's message; read for a key with `client_tools`."),
  },
  given("an object with role and content"),
);

const ToolChoice = z.union(
  [
    z.enum(["none", "auto", "required"]),
    z.object({ type: z.literal("function"), function: z.object({ name: z.string() }) }),
  ],
  given('"none", "auto", "required" or {"type": "function", "function": {"name": …}}'),
);
export type ToolChoice = z.infer<typeof ToolChoice>;

const ResponseFormat = z.discriminatedUnion(
  "type",
  [
    z.object({ type: z.literal("text") }),
    z.object({
      type: z.literal("json_object"),
      schema: z
        .null('is not read with json_object; send {type: "json_schema", json_schema: {name, schema}}')
        .optional(),
    }),
    z.object({
      type: z.literal("json_schema"),
      json_schema: z.object(
        {
          name: z.string(given("a string")).regex(/^[a-zA-Z0-9_-]{1,64}$/, "must be 1 to 64 letters, digits, _ or -"),
          description: string().nullish(),
          schema: z.record(z.string(), z.unknown(), given("a JSON schema, which is an object")).default({}),
          strict: z.boolean(given("a boolean")).nullish(),
        },
        given("an object with a name"),
      ),
    }),
  ],
  given("an object whose type is text, json_object or json_schema"),
);

const CollectionNames = z
  .array(string(), given("an array of names"))
  .max(MAX_COLLECTIONS, `must have ${MAX_COLLECTIONS.toLocaleString("en")} items at most`);

export const CompletionRequest = z
  .object(
    {
      model: string("a string of the form provider/model").min(1, "must be a string of the form provider/model"),
      messages: z.array(Message, given("an array of messages")),
      temperature: number().nullish(),
      top_p: number().nullish(),
      max_tokens: tokenLimit().nullish(),
      max_completion_tokens: tokenLimit().nullish().describe("Wins over `max_tokens`."),
      stop: z.union([z.string(), z.array(z.string())], given("a string or an array of strings")).nullish(),
      seed: wholeNumber().nullish(),
      stream: z.boolean(given("a boolean")).nullish(),
      stream_options: z
        .object({ include_usage: z.boolean(given("a boolean")).nullish() }, given("an object"))
        .nullish(),
      tools: z
        .array(z.unknown(), given("an array"))
        .nullish()
        .describe(
          "Names of tools of the server: only `function.name` is read. For a key with `client_tools` also functions that the caller runs.",
        ),
      tool_choice: ToolChoice.nullish(),
      response_format: ResponseFormat.nullish(),
      user: string().nullish().describe("End user; isolates threads and files."),
      metadata: refuseInexact(z.record(z.string(), z.unknown(), given("an object"))).nullish(),
      knowledge: z
        .object(
          {
            collections: CollectionNames.nullish().describe(
              "Slugs or display names. Knowledge tools find nothing elsewhere, and nothing at all if the list is empty. Default: every collection.",
            ),
          },
          given("an object"),
        )
        .nullish(),
      attachments: z.array(string("a file id"), given("an array of file ids")).nullish(),
    },
    given("a JSON object"),
  )
  .meta({ title: "ChatCompletionRequest" });
export type CompletionRequest = z.infer<typeof CompletionRequest>;

/** Error codes of fields that have one in the spec. */
export const COMPLETION_CODES: FieldCodes = [
  [/^messages\[\d+\]\.role$/, "invalid_role"],
  [/^tool_choice/, "invalid_tool_choice"],
  [/^response_format/, "invalid_response_format"],
];

const Usage = z.object({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
  prompt_tokens_details: z.object({ cached_tokens: z.int() }),
  completion_tokens_details: z.object({ reasoning_tokens: z.int() }),
  cost: z.string().optional().describe("US dollars, exact. Absent where the price of the model is not known."),
});
const Annotation = z.object({
  type: z.literal("url_citation"),
  url_citation: Citation.describe(
    "`document_id` and the fields after it name the part of a document that was read; absent for pages of the web.",
  ),
});

export const Completion = z
  .object({
    id: z.string(),
    object: z.literal("chat.completion"),
    created: z.int(),
    model: z.string(),
    choices: z.array(
      z.object({
        index: z.literal(0),
        message: z.object({
          role: z.literal("assistant"),
          content: z.string(),
          refusal: z.string().nullable().describe("Why the model or its provider refused to answer."),
          annotations: z.array(Annotation),
          reasoning_content: z.string().optional(),
          tool_calls: z
            .array(ToolCall)
            .optional()
            .describe("Of the caller's own tools, for a key with `client_tools`."),
        }),
        logprobs: z.null(),
        finish_reason: z.enum(["stop", "length", "content_filter", "tool_calls"]),
      }),
    ),
    usage: Usage,
  })
  .meta({ title: "ChatCompletion" });
export type Completion = z.infer<typeof Completion>;
