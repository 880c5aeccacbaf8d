import { z } from "zod";
import { PlaceInDocument } from "#events/turnOutput.ts";

/* The agent response object, for the API description (spec: Agent response object). */

const Citation = z.object({
  type: z.literal("url_citation"),
  url: z.string(),
  title: z.string(),
  start_index: z.int(),
  end_index: z.int(),
  ...PlaceInDocument.shape,
});
const TextPart = z.object({
  type: z.literal("output_text"),
  text: z.string(),
  annotations: z.array(Citation),
  logprobs: z.array(z.never()),
});
const RefusalPart = z.object({ type: z.literal("refusal"), refusal: z.string() });

const Reasoning = z.object({
  type: z.literal("reasoning"),
  id: z.string(),
  status: z.enum(["in_progress", "completed"]),
  summary: z.array(z.object({ type: z.literal("summary_text"), text: z.string() })),
});
const FunctionCall = z.object({
  type: z.literal("function_call"),
  id: z.string(),
  call_id: z.string(),
  name: z.string(),
  arguments: z.string().describe("JSON."),
  status: z.enum(["in_progress", "completed", "incomplete"]).describe("`incomplete`: the tool returned an error."),
});
const Message = z.object({
  type: z.literal("message"),
  id: z.string(),
  role: z.literal("assistant"),
  status: z.enum(["in_progress", "completed", "incomplete"]),
  content: z.array(z.discriminatedUnion("type", [TextPart, RefusalPart])),
});

const Usage = z.object({
  input_tokens: z.int(),
  input_tokens_details: z.object({ cached_tokens: z.int(), cache_write_tokens: z.int() }),
  output_tokens: z.int(),
  output_tokens_details: z.object({ reasoning_tokens: z.int() }),
  total_tokens: z.int(),
  cost: z.string().optional().describe("US dollars, exact. Absent where the price of the model is not known."),
});

export const AgentResponse = z
  .object({
    id: z.string().describe("`resp_` and a UUID."),
    object: z.literal("response"),
    created_at: z.int().describe("Unix seconds."),
    completed_at: z.int().nullable(),
    status: z.enum(["in_progress", "completed", "failed", "cancelled"]),
    error: z.object({ type: z.string(), code: z.string(), message: z.string() }).nullable(),
    incomplete_details: z.null(),
    instructions: z.string().nullable().describe("Those of the request, never the agent's."),
    model: z.string().describe("`provider/model`."),
    output: z.array(z.discriminatedUnion("type", [Reasoning, FunctionCall, Message])),
    previous_response_id: z.string().nullable(),
    reasoning: z.object({ effort: z.string().nullable(), summary: z.null() }),
    usage: Usage.nullable(),
    user: z.string().nullable(),
    metadata: z.record(z.string(), z.unknown()).describe("The vars of the thread."),
    thread_id: z.string(),
    max_output_tokens: z.int().nullable(),
    background: z.literal(false).describe("This field and those below are the same in each response."),
    frequency_penalty: z.literal(0),
    max_tool_calls: z.null(),
    presence_penalty: z.literal(0),
    prompt_cache_key: z.null(),
    safety_identifier: z.null(),
    service_tier: z.literal("default"),
    temperature: z.literal(1),
    text: z.object({ format: z.object({ type: z.literal("text") }) }),
    top_logprobs: z.literal(0),
    top_p: z.literal(1),
    parallel_tool_calls: z.literal(true),
    store: z.literal(true),
    tool_choice: z.literal("auto"),
    tools: z.array(z.never()).readonly(),
    truncation: z.literal("disabled"),
    pending_approvals: z
      .array(
        z.object({
          id: z.string().describe("As in `/api/workflows/approvals/{approval_id}`."),
          call_id: z.string().nullable(),
          name: z.string().describe("Of the tool."),
          expires_at: z.iso.datetime(),
        }),
      )
      .optional()
      .describe("Only while the response waits until people have allowed tool calls."),
  })
  .meta({ title: "AgentResponse" });

export const AgentModel = z
  .object({ id: z.string(), object: z.literal("model"), created: z.int(), owned_by: z.string() })
  .meta({ title: "AgentModel" });
export const AgentModels = z
  .object({ object: z.literal("list"), data: z.array(AgentModel) })
  .meta({ title: "AgentModelList" });
