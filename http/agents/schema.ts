import { z } from "zod";
import type { FieldCodes } from "../validate.ts";

/* The agent response request and answer (spec: Resources, Agent response request). */

const given = (wanted: string) => ({ error: `must be ${wanted}` });

/* Items and parts of other types are skipped, however they look: a message's content is parsed when it is read. */
const Part = z.object(
  {
    type: z.string(given("a string")),
    text: z.unknown().optional().describe("A string, of an `input_text` or `output_text` part."),
    image_url: z.unknown().optional().describe("Of an `input_image` part: a base64 `data:` URL."),
    file_data: z.unknown().optional().describe("Of an `input_file` part, with `filename`."),
    filename: z.unknown().optional(),
    file_id: z.unknown().optional(),
  },
  given("an object with a type"),
);
export type Part = z.infer<typeof Part>;

export const Content = z
  .union([z.string(), z.array(Part)], given("a string or an array of parts"))
  .nullish()
  .transform((content) => content ?? "");
export type Content = z.infer<typeof Content>;

const Item = z.object(
  {
    type: z.string(given("a string")).nullish().describe("`message` or none; other items are skipped."),
    role: z.string(given("a string")).nullish(),
    content: z.unknown().optional().describe("Of a message: a string, or parts with a `type`."),
    call_id: z.unknown().optional(),
  },
  given("an object"),
);
export type InputItem = z.infer<typeof Item>;

export const ResponseRequest = z.object(
  {
    input: z.union([z.string(), z.array(Item)], given("a string or an array of items")),
    instructions: z.string(given("a string")).nullish().describe("Added after the agent's own; not stored."),
    stream: z.boolean(given("a boolean")).nullish(),
    user: z.string(given("a string")).nullish().describe("End user; isolates threads."),
    previous_response_id: z.string(given("the id of a response")).nullish(),
    vars: z.unknown().optional().describe("Object of at most 32 keys; reaches tools as `meta.vars`."),
    metadata: z.unknown().optional().describe("Alias for `vars`, which wins on a shared key."),
    reasoning: z.object({ effort: z.string(given("a string")).nullish() }, given("an object")).nullish(),
    attachments: z.array(z.string(given("a file id")), given("an array of file ids")).nullish(),
    tools: z.unknown().optional().describe("Refused: an agent brings its own."),
    tool_choice: z.unknown().optional().describe("Refused."),
    text: z.unknown().optional().describe("`format.type` may only be `text`."),
  },
  given("a JSON object"),
);
export type ResponseRequest = z.infer<typeof ResponseRequest>;

/** Codes of fields that the spec gives one. */
export const RESPONSE_CODES: FieldCodes = [
  [/^input/, "invalid_input"],
  [/^previous_response_id/, "invalid_response_id"],
];
