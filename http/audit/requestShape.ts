import { z } from "zod";
import { FinishReason, Usage } from "#events/thread.ts";
import { MAX_COUNTED, type RequestPlace, type RequestRow } from "#projections/turns/listRequests.ts";
import { isUuid } from "#events/ids.ts";
import { ApiError } from "../base/errors.ts";
import { MAX_SUBJECT } from "../base/limits.ts";
import { isStorable, Moment } from "../base/moment.ts";
import { PageQuery } from "../base/pagination.ts";

const MAX_QUESTION_LENGTH = 300;
/** Maximum search words. Each is searched in every question that a page examines. */
const MAX_WORDS = 20;

const Status = z.enum(["running", "completed", "failed", "stopped", "refused"]);
const moment = z.iso.datetime();

/** A request to a model, as lists show it. */
export const TurnSummary = z
  .object({
    id: z.string().describe("The id of its trace; that of `chatcmpl-…` or `resp_…` without the prefix."),
    thread_id: z.string(),
    status: Status,
    model: z.string(),
    agent: z
      .object({ id: z.string(), version: z.int(), name: z.string().nullable().describe("Null once it is deleted.") })
      .nullable(),
    principal: z.string().describe("Who asked: `person:<id>`, `key:<id>`, `webhook:<id of the trigger>` or `system`."),
    principal_name: z.string().nullable().describe("Of the key or the person; null once it is deleted."),
    streamed: z.boolean(),
    question: z
      .string()
      .nullable()
      .describe(`The last message of the request, ${MAX_QUESTION_LENGTH} characters at most; null if it is very long.`),
    finish_reason: FinishReason.nullable(),
    error: z.string().nullable().describe("Why it failed, or the code with which the provider refused it."),
    attempts: z.int(),
    usage: Usage.nullable().describe("Null while it runs."),
    started_at: moment,
    ended_at: moment.nullable(),
    duration_ms: z.int().nullable(),
  })
  .meta({ title: "TurnSummary" });

/** Null without any. */
export const splitWords = (text: string): string[] | null => text.match(/\S+/g);

export const RequestQuery = z.object({
  status: Status.optional(),
  principal: z
    .string()
    .regex(/^(me|system|(key|person|webhook):[0-9a-f-]{36})$/, "must be `me`, `key:<id>` or `person:<id>`")
    .optional()
    .describe("Only of this key or person: `key:<id>` or `person:<id>`. Your own: `me`."),
  model: z.string().max(300).optional(),
  agent_id: z.uuid().optional(),
  thread_id: z.uuid().optional().describe("Only those of this conversation."),
  user: z
    .string()
    .min(1)
    .max(MAX_SUBJECT)
    .optional()
    .describe("Only of this external user: the `user` that requests with an API key name."),
  q: z.string().max(500).optional().describe("Only turns whose error contains this text, in any case."),
  question: z
    .string()
    .max(500)
    .refine((text) => (splitWords(text)?.length ?? 0) <= MAX_WORDS, `must have at most ${MAX_WORDS} words`)
    .optional()
    .describe(
      "Only turns whose last message contains all of these words, in any order and case. Very long messages are not searched.",
    ),
  from: Moment.optional().describe("Only turns started at or after this moment."),
  to: Moment.optional().describe("Only turns started before this moment."),
  counts: z
    .literal("model")
    .optional()
    .describe("Count all turns that match, on all pages, by model and status. Not together with `question`."),
  after: z.string().optional().describe("`next_after` of the page before. Default: from the newest."),
  limit: PageQuery.shape.limit,
});
export const RequestPage = z.object({
  data: z.array(TurnSummary),
  next_after: z.string().nullable().describe("`after` of the next page; null on the last one."),
  has_more: z.boolean().describe("Filters that match few turns may give short or empty pages before the last one."),
  counts: z
    .array(z.object({ model: z.string(), status: Status, turns: z.int() }))
    .optional()
    .describe("With `counts=model` only: the 200 largest counts, most first."),
  counts_complete: z
    .boolean()
    .optional()
    .describe(
      `With \`counts\`: false if only the newest ${MAX_COUNTED.toLocaleString("en")} turns of the time range were counted.`,
    ),
});

const questionOf = ({ input }: RequestRow): string | null => {
  const text = input?.at(-1)?.text;
  return text === undefined
    ? null
    : Array.from(text.slice(0, 2 * MAX_QUESTION_LENGTH))
        .slice(0, MAX_QUESTION_LENGTH)
        .join("");
};

export const presentRequest = (row: RequestRow): z.infer<typeof TurnSummary> => ({
  id: row.id,
  thread_id: row.thread_id,
  status: row.status,
  model: row.model,
  agent: row.agent && { id: row.agent.agent_id, version: row.agent.version, name: row.agent.name },
  principal: row.principal,
  principal_name: row.principal_name,
  streamed: row.streamed,
  question: questionOf(row),
  finish_reason: row.finish_reason,
  error: row.error ?? row.code,
  attempts: row.attempt,
  usage: row.usage,
  started_at: row.started_at.toISOString(),
  ended_at: row.ended_at?.toISOString() ?? null,
  duration_ms: row.ended_at ? row.ended_at.getTime() - row.started_at.getTime() : null,
});

export const writePlace = ({ started_at, id }: RequestPlace): string => `${started_at.getTime()}_${id}`;

/** Reads the cursor. Throws a 400. */
export function readPlace(after: string | undefined): RequestPlace | undefined {
  if (after === undefined || after === "") return undefined;
  const [ms = "", id = ""] = after.split("_");
  const started_at = new Date(Number(/^\d{1,15}$/.test(ms) ? ms : Number.NaN));
  if (isUuid(id) && isStorable(started_at)) return { started_at, id };
  throw new ApiError(null, "after: must be `next_after` of another page.", { param: "after" });
}
