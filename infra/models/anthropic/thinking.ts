import type { MessageCreateParams, OutputConfig } from "@anthropic-ai/sdk/resources/messages";
import type { ModelRequest } from "#services/turns/model.ts";
import type { Effort, Facts } from "./facts.ts";
import { hasThought } from "./state.ts";

type Thinking = Pick<MessageCreateParams, "thinking"> & { effort?: OutputConfig["effort"] };

/** Words for an effort; another word is one that this provider does not know. */
const WORDS = new Map<string, Effort>([
  ["minimal", "low"],
  ["low", "low"],
  ["medium", "medium"],
  ["high", "high"],
  ["xhigh", "xhigh"],
  ["max", "max"],
]);
const ORDER: Effort[] = ["low", "medium", "high", "xhigh", "max"];

/** Tokens to think with, for models that are told a number. */
const BUDGETS: Record<Effort, number> = { low: 2_048, medium: 8_192, high: 16_384, xhigh: 24_576, max: 32_768 };
const LEAST_BUDGET = 1_024;

/** The highest effort that is not above the one that is wanted, else the lowest. */
const nearest = (efforts: Effort[], wanted: Effort): Effort | undefined =>
  efforts.findLast((effort) => ORDER.indexOf(effort) <= ORDER.indexOf(wanted)) ?? efforts[0];

/**
 * How a model shall think. Nothing is said to one that was asked for no effort, unless it thinks anyway and would only hide
 * its thoughts. `limit`: the answer's limit, which thinking counts towards.
 */
export function thinkingOf(request: ModelRequest, { thinking, efforts }: Facts, limit: number): Thinking {
  const { reasoning_effort } = request;
  if (reasoning_effort === "none") return thinking.disabled ? { thinking: { type: "disabled" } } : {};
  const wanted = reasoning_effort === null ? undefined : WORDS.get(reasoning_effort);
  const always = thinking.adaptive && !thinking.disabled;
  if (wanted === undefined && !always) return {};
  const effort = wanted && nearest(efforts, wanted);
  if (thinking.adaptive)
    return { thinking: { type: "adaptive", display: "summarized" }, ...(effort !== undefined && { effort }) };
  const budget = wanted && thinking.enabled ? budgetOf(request, wanted, limit) : undefined;
  return {
    ...(budget !== undefined && { thinking: { type: "enabled", budget_tokens: budget } }),
    ...(effort !== undefined && { effort }),
  };
}

/** Thinking by budget allows no forced choice, and a turn that began without thoughts has to go on without. */
function budgetOf({ messages, tools, tool_choice }: ModelRequest, effort: Effort, limit: number): number | undefined {
  const forced = tools.length > 0 && tool_choice !== "auto" && tool_choice !== "none";
  const thoughtless = messages.some(
    (message) => message.role === "assistant" && message.calls && !hasThought(message.opaque),
  );
  const budget = Math.min(BUDGETS[effort], Math.floor(limit / 2));
  return forced || thoughtless || budget < LEAST_BUDGET ? undefined : budget;
}
