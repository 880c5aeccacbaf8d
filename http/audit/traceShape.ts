import { z } from "zod";
import { Labels } from "#events/labels.ts";
import { Actor } from "#events/runOrigin.ts";
import { Citation, FinishReason, Prompt, Source, ToolCall, Usage } from "#events/thread.ts";

const moment = z.iso.datetime();
const Attachment = z.object({ filename: z.string(), mime_type: z.string(), bytes: z.int(), sha256: z.string() });
export const TracedMessage = z.object({
  role: z.enum(["user", "assistant", "tool"]),
  text: z.string(),
  calls: z.array(ToolCall).optional().describe("Of the caller's own tools."),
  call_id: z.string().optional().describe("Of a tool result: the id of the call that it answers."),
  attachments: z.array(Attachment),
  turn_id: z.string().describe("The turn it belongs to."),
});

/** An explicit list, so that a field that is added to prompts stays hidden until it is added here. */
const settings = Prompt.pick({
  temperature: true,
  top_p: true,
  max_output_tokens: true,
  stop: true,
  seed: true,
  response_format: true,
  user: true,
  vars: true,
  tools: true,
  tool_choice: true,
  client_tools: true,
}).shape;

export const TracedPrompt = z.object({
  instructions: z.string().nullable().describe("Those of the agent, then those of the caller."),
  messages: z.array(TracedMessage).describe("The conversation so far, then the new messages."),
  forgotten_turns: z.int().describe("Turns that were part of the conversation then and have been deleted since."),
  turns_not_shown: z
    .int()
    .describe("Older turns of the conversation: of what came before the new messages, the newest 2 MB are shown."),
  reasoning_effort: z.string().nullable(),
  ...settings,
  knowledge: Prompt.shape.knowledge.describe("Ids of the collections that the knowledge tools could search."),
});

export const TracedApproval = z.object({
  id: z.string().describe("As in `/api/workflows/approvals/{approval_id}`."),
  status: z.enum(["pending", "approved", "rejected", "expired", "cancelled"]),
  comment: z.string().nullable(),
  decided_by: Actor.nullable(),
  decided_at: moment.nullable(),
  requested_at: moment,
  expires_at: moment,
});
export const TracedCall = z.object({
  id: z.string(),
  name: z.string(),
  arguments: z.string().describe("JSON, if the model wrote valid JSON."),
  status: z
    .enum(["running", "completed", "failed", "client"])
    .describe("`client`: a tool of the caller's own, which does not run here."),
  output: z.string().nullable().describe("The output that the model received."),
  sources: z.array(Source),
  tool_version: z.int().nullable().describe("Of a tool that the organization wrote: the version that ran."),
  secrets: z.array(z.string()).describe("Names of the secrets that the tool read."),
  attempt: z.int().nullable(),
  duration_ms: z.int().nullable(),
  ended_at: moment.nullable(),
  approval: TracedApproval.nullable().describe("Of a call that a person had to allow."),
});
const output = { text: z.string(), reasoning: z.string(), citations: z.array(Citation) };
export const TracedRound = z.object({
  round: z.int(),
  attempt: z.int(),
  at: moment,
  ...output,
  calls: z.array(TracedCall),
  usage: Usage,
  model: z.string().optional().describe("The target that answered, where the model is an alias."),
  opaque: z.unknown().describe("Sent back to the provider with the tool results."),
});

export const Trace = z
  .object({
    id: z.string(),
    thread_id: z.string(),
    status: z.enum(["running", "completed", "failed", "stopped"]),
    model: z.string().describe("As the request or the agent named it."),
    labels: Labels.optional().describe("As the header `x-labels` named them."),
    answered_by: z
      .string()
      .nullable()
      .describe(
        "The model that answered last: where `model` is an alias, one of its targets. Null while the turn runs.",
      ),
    targets: z
      .array(z.string())
      .optional()
      .describe("Where the model is an alias: its targets in the order in which this turn tried them."),
    failed_targets: z
      .array(
        z.object({
          target: z.string(),
          round: z.int(),
          attempt: z.int(),
          reason: z
            .string()
            .describe(
              "The provider's status, `timeout`, `connection`, `cut`, `worker_lost`, `refused`, `context_length`, `content_filter`, " +
                "`no_credential`, or `circuit_open`: it was not asked.",
            ),
          duration_ms: z.int(),
          at: moment,
          usage: Usage.optional().describe("What the failed request has used, which is part of the turn's `usage`."),
        }),
      )
      .describe(
        "Targets that did not answer, in order. A model that was named directly is here for each answer that broke off and was repeated.",
      ),
    agent: z.object({ id: z.string(), version: z.int() }).nullable(),
    streamed: z.boolean(),
    principal: z.string(),
    request_id: z.string(),
    trace_id: z.string().nullable().describe("The trace (W3C Trace Context) that it belongs to."),
    started_at: moment,
    ends_by: moment,
    ended_at: moment.nullable(),
    duration_ms: z.int().nullable(),
    attempts: z.array(
      z.object({
        attempt: z.int(),
        worker: z.string().nullable(),
        at: moment,
        resumed: z.literal(true).optional().describe("After a wait for approvals; else a worker was lost."),
      }),
    ),
    prompt: TracedPrompt.nullable().describe("Null when its blob has been deleted."),
    rounds: z.array(TracedRound).describe("Model answers that called tools, with the output of the tools."),
    answer: z
      .object({ ...output, finish_reason: FinishReason.nullable(), error: z.string().nullable() })
      .nullable()
      .describe("The final output; null while the turn runs."),
    usage: Usage.describe(
      "Of the whole turn; while it runs, of its rounds so far. `cost`: US dollars, where it is known.",
    ),
    events: z
      .array(
        z.object({ cursor: z.string().describe("As in `GET /api/events`."), type: z.string(), recorded_at: moment }),
      )
      .describe("What the log has of the turn, in order."),
  })
  .meta({ title: "Trace" });
export type Trace = z.infer<typeof Trace>;
