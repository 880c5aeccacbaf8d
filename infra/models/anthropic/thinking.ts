import type { MessageCreateParams, OutputConfig } from "@anthropic-ai/sdk/resources/messages";
import type { ModelRequest } from "#services/turns/model.ts";
import type { Effort, ModelFacts } from "./facts.ts";
import { hasThinking } from "./state.ts";

type ThinkingParams = Pick<MessageCreateParams, "thinking"> & { effort?: OutputConfig["effort"] };

/** Efforts by the word in the request. Unknown words are ignored. */
const EFFORT_WORDS = new Map<string, Effort>([
  ["minimal", "low"],
  ["low", "low"],
  ["medium", "medium"],
  ["high", "high"],
  ["xhigh", "xhigh"],
  ["max", "max"],
]);
const ORDER: Effort[] = ["low", "medium", "high", "xhigh", "max"];

/** Thinking tokens, for models that take a budget. */
const BUDGETS: Record<Effort, number> = { low: 2_048, medium: 8_192, high: 16_384, xhigh: 24_576, max: 32_768 };
/** The smallest budget the API accepts. */
const MIN_BUDGET = 1_024;

/** The highest accepted effort up to the requested one, otherwise the lowest. */
const nearestEffort = (efforts: Effort[], wanted: Effort): Effort | undefined =>
  efforts.findLast((effort) => ORDER.indexOf(effort) <= ORDER.indexOf(wanted)) ?? efforts[0];

/**
 * The thinking parameters of a request. Without an effort they are empty, except for models that always think: these
 * must show a summary. `maxTokens`: the limit of the whole answer, including thinking.
 */
export function thinkingParams(
  request: ModelRequest,
  { thinking, efforts }: ModelFacts,
  maxTokens: number,
): ThinkingParams {
  const { reasoning_effort } = request;
  if (reasoning_effort === "none") return thinking.disabled ? { thinking: { type: "disabled" } } : {};
  const wanted = reasoning_effort === null ? undefined : EFFORT_WORDS.get(reasoning_effort);
  const alwaysThinks = thinking.adaptive && !thinking.disabled;
  if (wanted === undefined && !alwaysThinks) return {};
  const effort = wanted && nearestEffort(efforts, wanted);
  if (thinking.adaptive)
    return { thinking: { type: "adaptive", display: "summarized" }, ...(effort !== undefined && { effort }) };
  const budget = wanted && thinking.enabled ? thinkingBudget(request, wanted, maxTokens) : undefined;
  return {
    ...(budget !== undefined && { thinking: { type: "enabled", budget_tokens: budget } }),
    ...(effort !== undefined && { effort }),
  };
}

/**
 * The number of tokens for thinking; undefined for none. The API allows no budget together with a forced tool choice, nor in a turn
 * whose earlier rounds had no thinking.
 */
function thinkingBudget(
  { messages, tools, tool_choice }: ModelRequest,
  effort: Effort,
  maxTokens: number,
): number | undefined {
  const isForced = tools.length > 0 && tool_choice !== "auto" && tool_choice !== "none";
  const hasPlainRounds = messages.some(
    (message) => message.role === "assistant" && message.calls && !hasThinking(message.opaque),
  );
  const budget = Math.min(BUDGETS[effort], Math.floor(maxTokens / 2));
  return isForced || hasPlainRounds || budget < MIN_BUDGET ? undefined : budget;
}
