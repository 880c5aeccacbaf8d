import { creationTime } from "#events/ids.ts";
import { measureJson } from "#events/largeJson.ts";
import type { TurnEnd } from "#events/ports.ts";
import { responseUsage } from "#events/presentUsage.ts";
import { NO_USAGE } from "#events/thread.ts";
import { responseId } from "../turns/responseId.ts";
import type { Item } from "./items.ts";

/** What a response shows of its request and its agent. */
export interface ResponseHead {
  turn_id: string;
  thread_id: string;
  /** `provider/model`, or an alias until a target has answered. */
  model: string;
  /** The caller's instructions, never the agent's. */
  instructions: string | null;
  previous_turn_id: string | null;
  user: string | null;
  /** The vars of the thread, updated by this request. */
  vars: Record<string, unknown>;
  reasoning_effort: string | null;
  max_output_tokens: number | null;
  expose_tool_items: boolean;
  /** Number of the first item in the stored response, if earlier ones are left out. */
  first_item?: number;
  /** Whether the items left out before `first_item` include a message. */
  follows_message?: boolean;
}

type RequestFields = Pick<ResponseHead, "instructions" | "user" | "vars">;

/** Characters of what a response repeats of its request. A stream keeps them in memory until its end. */
export const measureHead = ({ instructions, user, vars }: RequestFields): number =>
  measureJson({ instructions, user, vars }, Infinity);

/** Constant fields that strict parsers require (spec: Agent response object). */
const FIXED = {
  background: false,
  frequency_penalty: 0,
  incomplete_details: null,
  max_tool_calls: null,
  parallel_tool_calls: true,
  presence_penalty: 0,
  prompt_cache_key: null,
  safety_identifier: null,
  service_tier: "default",
  store: true,
  temperature: 1,
  text: { format: { type: "text" } },
  tool_choice: "auto",
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: "disabled",
} as const;

const STATUS = { completed: "completed", failed: "failed", refused: "failed", stopped: "cancelled" } as const;

const presentError = (end: TurnEnd | undefined) =>
  end?.status === "failed" || end?.status === "refused"
    ? { type: "server_error", code: "agent_error", message: end.message || "The turn failed." }
    : null;

/** The response object of a running or ended turn (spec: Agent response object). */
export function presentResponse(head: ResponseHead, output: Item[], end?: TurnEnd, completed_at: number | null = null) {
  return {
    id: responseId(head.turn_id),
    object: "response" as const,
    // from the id, so that all processes give the same time
    created_at: Math.floor(creationTime(head.turn_id) / 1000),
    completed_at: end?.status === "completed" ? completed_at : null,
    status: end ? STATUS[end.status] : ("in_progress" as const),
    error: presentError(end),
    instructions: head.instructions,
    max_output_tokens: head.max_output_tokens,
    model: (end && "model" in end && end.model) || head.model,
    output,
    previous_response_id: head.previous_turn_id === null ? null : responseId(head.previous_turn_id),
    reasoning: { effort: head.reasoning_effort, summary: null },
    usage: end ? responseUsage(end.status === "refused" ? NO_USAGE : end.usage) : null,
    user: head.user,
    metadata: head.vars,
    thread_id: head.thread_id,
    ...FIXED,
  };
}

/** An approval that a response waits for. */
interface PendingApproval {
  id: string;
  call_id: string | null;
  name: string;
  expires_at: string;
}

export type Response = ReturnType<typeof presentResponse> & { pending_approvals?: PendingApproval[] };
