import { z } from "zod";
import type { FieldCodes } from "../base/validate.ts";

/* The agent response request and answer (spec: Resources, Agent response request). */

const given = (wanted: string) => ({ error: `must be ${wanted}` });

/* Parts of unknown types are skipped, whatever their fields. The content of a message is parsed by `readInput`. */
const Part = z.object(
  {
    type: z.string(given("a string")),
    text: z.unknown().optional().describe("A string, of an `input_text` or `output_text` part."),
    image_url: z.unknown().optional().describe("Of an `input_image` part: a base64 `data:` URL."),
    file_data: z.unknown().optional().describe("Of an `input_file` part, with `filename`."),
    filename: z.unknown().optional(),
    file_id: z.unknown().optional(),
    file_url: z.unknown().optional().describe("Refused: remote files are never fetched."),
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
    type: z
      .string(given("a string"))
      .nullish()
      .describe(
        "`message` or none, `item_reference`, or with `client_tools` `function_call` and `function_call_output`; other items are skipped.",
      ),
    role: z.unknown().optional().describe("Of a message: user, assistant, system or developer."),
    content: z.unknown().optional().describe("Of a message: a string, or parts with a `type`."),
    id: z.unknown().optional().describe("Of an `item_reference`: an output item of an earlier response."),
    call_id: z.unknown().optional(),
    name: z.unknown().optional(),
    arguments: z.unknown().optional(),
    output: z.unknown().optional().describe("Of a `function_call_output`: a string, or parts as in a message."),
  },
  given("an object"),
);
export type InputItem = z.infer<typeof Item>;

export const ResponseRequest = z
  .object(
    {
      input: z.union([z.string(), z.array(Item)], given("a string or an array of items")),
      instructions: z.string(given("a string")).nullish().describe("Added after those of the agent; not stored."),
      stream: z.boolean(given("a boolean")).nullish(),
      user: z.string(given("a string")).nullish().describe("End user; isolates threads."),
      previous_response_id: z.string(given("the id of a response")).nullish(),
      vars: z.unknown().optional().describe("Object of at most 32 keys; reaches tools as `meta.vars`."),
      metadata: z.unknown().optional().describe("Alias for `vars`, which wins on a shared key."),
      reasoning: z.object({ effort: z.string(given("a string")).nullish() }, given("an object")).nullish(),
      attachments: z.array(z.string(given("a file id")), given("an array of file ids")).nullish(),
      max_output_tokens: z.int(given("a whole number")).min(1, "must be at least 1").nullish(),
      tools: z
        .unknown()
        .optional()
        .describe("Refused unless the agent has `client_tools`: then functions that the caller runs."),
      tool_choice: z.unknown().optional().describe("Refused unless the agent has `client_tools`."),
      text: z
        .looseObject({ format: z.unknown().optional() }, given("an object"))
        .nullish()
        .describe("`format.type` may only be `text`."),
    },
    given("a JSON object"),
  )
  .meta({ title: "AgentResponseRequest" });
export type ResponseRequest = z.infer<typeof ResponseRequest>;

/** Codes of fields that the spec gives one. */
export const RESPONSE_CODES: FieldCodes = [
  [/^input/, "invalid_input"],
  [/^previous_response_id/, "invalid_response_id"],
];
