import { expect } from "vitest";
import { z } from "zod";

/*
 * What the Open Responses specification (version 2026-04-24) requires of a response object and of the events of its stream, in our
 * own words: the fields that must be there, with their types. Fields of our own may be there besides.
 */

const text = z.string();
const index = z.int().nonnegative();
const orNull = <Schema extends z.ZodType>(schema: Schema) => z.union([schema, z.null()]);

const annotation = z.object({
  type: z.literal("url_citation"),
  url: text,
  title: text,
  start_index: index,
  end_index: index,
});
const part = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("output_text"),
    text,
    annotations: z.array(annotation),
    logprobs: z.array(z.unknown()),
  }),
  z.object({ type: z.literal("refusal"), refusal: text }),
  z.object({ type: z.literal("summary_text"), text }),
]);
const status = z.enum(["in_progress", "completed", "incomplete"]);
const item = z.discriminatedUnion("type", [
  z.object({ type: z.literal("message"), id: text, status, role: z.literal("assistant"), content: z.array(part) }),
  z.object({ type: z.literal("function_call"), id: text, call_id: text, name: text, arguments: text, status }),
  z.object({ type: z.literal("reasoning"), id: text, summary: z.array(part) }),
]);

const usage = z.object({
  input_tokens: index,
  output_tokens: index,
  total_tokens: index,
  input_tokens_details: z.object({ cached_tokens: index }),
  output_tokens_details: z.object({ reasoning_tokens: index }),
});
const response = z.object({
  id: text,
  object: z.literal("response"),
  created_at: z.int(),
  completed_at: orNull(z.int()),
  status: text,
  incomplete_details: orNull(z.object({ reason: text })),
  model: text,
  previous_response_id: orNull(text),
  instructions: orNull(text),
  output: z.array(item),
  error: orNull(z.object({ code: text, message: text })),
  tools: z.array(z.object({ type: text })),
  tool_choice: z.enum(["none", "auto", "required"]),
  truncation: z.enum(["auto", "disabled"]),
  parallel_tool_calls: z.boolean(),
  text: z.object({ format: z.object({ type: z.literal("text") }) }),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: z.int(),
  temperature: z.number(),
  reasoning: orNull(z.object({ effort: orNull(text), summary: orNull(text) })),
  user: orNull(text),
  usage: orNull(usage),
  max_output_tokens: orNull(z.int()),
  max_tool_calls: orNull(z.int()),
  store: z.boolean(),
  background: z.boolean(),
  service_tier: text,
  metadata: z.record(z.string(), z.unknown()),
  safety_identifier: orNull(text),
  prompt_cache_key: orNull(text),
});

const event = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.object({ type: z.literal(`response.${type}`), sequence_number: index, ...shape });
const ofItem = { item_id: text, output_index: index };
const ofPart = { ...ofItem, content_index: index };
const ofSummary = { ...ofItem, summary_index: index };
const streamEvent = z.discriminatedUnion("type", [
  event("created", { response }),
  event("in_progress", { response }),
  event("completed", { response }),
  event("failed", { response }),
  event("output_item.added", { output_index: index, item }),
  event("output_item.done", { output_index: index, item }),
  event("content_part.added", { ...ofPart, part }),
  event("content_part.done", { ...ofPart, part }),
  event("output_text.delta", { ...ofPart, delta: text, logprobs: z.array(z.unknown()) }),
  event("output_text.done", { ...ofPart, text, logprobs: z.array(z.unknown()) }),
  event("output_text.annotation.added", { ...ofPart, annotation_index: index, annotation }),
  event("reasoning_summary_text.delta", { ...ofSummary, delta: text }),
  event("reasoning_summary_text.done", { ...ofSummary, text }),
  event("function_call_arguments.delta", { ...ofItem, delta: text }),
  event("function_call_arguments.done", { ...ofItem, arguments: text }),
]);

const expectShape = (schema: z.ZodType, value: unknown): void => {
  const { error } = schema.safeParse(value);
  expect(error && z.prettifyError(error), JSON.stringify(value)).toBeUndefined();
};

export const expectOpenResponse = (value: unknown): void => expectShape(response, value);
export const expectOpenEvents = (events: unknown[]): void => events.forEach((each) => expectShape(streamEvent, each));
