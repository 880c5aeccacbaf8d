import { z } from "zod";
import { Citation, FinishReason, Prompt, Source, Usage } from "#events/thread.ts";

const moment = z.iso.datetime();
const Attachment = z.object({ filename: z.string(), mime_type: z.string(), bytes: z.int(), sha256: z.string() });
export const TracedMessage = z.object({
  role: z.enum(["user", "assistant"]),
  text: z.string(),
  attachments: z.array(Attachment),
  turn_id: z.string().describe("The turn that it came with."),
});

const {
  temperature,
  top_p,
  max_output_tokens,
  stop,
  seed,
  response_format,
  user,
  vars,
  tools,
  tool_choice,
  knowledge,
} = Prompt.shape;
const settings = { temperature, top_p, max_output_tokens, stop, seed, response_format, user, vars, tools, tool_choice };

export const TracedPrompt = z.object({
  instructions: z.string().nullable().describe("The agent's own, then the caller's."),
  messages: z.array(TracedMessage).describe("The conversation so far, then what was asked."),
  forgotten_turns: z.int().describe("Turns that were part of the conversation then, and are deleted now."),
  reasoning_effort: z.string().nullable(),
  ...settings,
  knowledge: knowledge.describe("Ids of the collections that the knowledge tools were limited to."),
});

export const TracedCall = z.object({
  id: z.string(),
  name: z.string(),
  arguments: z.string().describe("JSON, if the model kept to it."),
  status: z.enum(["running", "completed", "failed"]),
  output: z.string().nullable().describe("What the model got to read."),
  sources: z.array(Source),
  attempt: z.int().nullable(),
  duration_ms: z.int().nullable(),
  ended_at: moment.nullable(),
});
const said = { text: z.string(), reasoning: z.string(), citations: z.array(Citation) };
export const TracedRound = z.object({
  round: z.int(),
  attempt: z.int(),
  at: moment,
  ...said,
  calls: z.array(TracedCall),
  usage: Usage,
  opaque: z.unknown().describe("What the provider gets to see again with the results."),
});

export const Trace = z.object({
  id: z.string(),
  thread_id: z.string(),
  status: z.enum(["running", "completed", "failed", "stopped"]),
  model: z.string(),
  agent: z.object({ id: z.string(), version: z.int() }).nullable(),
  streamed: z.boolean(),
  principal: z.string(),
  request_id: z.string(),
  trace_id: z.string().nullable().describe("Of the trace (W3C Trace Context) that it belongs to."),
  started_at: moment,
  ends_by: moment,
  ended_at: moment.nullable(),
  duration_ms: z.int().nullable(),
  attempts: z.array(z.object({ attempt: z.int(), worker: z.string().nullable(), at: moment })),
  prompt: TracedPrompt.nullable().describe("Null where its blob is gone."),
  rounds: z.array(TracedRound).describe("Answers that asked for tools, with what these said."),
  answer: z
    .object({ ...said, finish_reason: FinishReason.nullable(), error: z.string().nullable() })
    .nullable()
    .describe("What was said in all; null while it runs."),
  usage: Usage.describe("Of the whole turn; of its rounds while it runs."),
});
export type Trace = z.infer<typeof Trace>;
