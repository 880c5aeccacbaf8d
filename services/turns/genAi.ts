/**
 * OpenTelemetry's attribute names for generative AI. The convention is not stable, so this file pins the names: dashboards
 * change only when it does. `system` is the older name of `provider`.
 */
export const GEN_AI = {
  system: "gen_ai.system",
  provider: "gen_ai.provider.name",
  operation: "gen_ai.operation.name",
  requestModel: "gen_ai.request.model",
  finishReasons: "gen_ai.response.finish_reasons",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  /** Input tokens read from the provider's cache, and stored in it. */
  cacheReadTokens: "gen_ai.usage.cache_read.input_tokens",
  cacheWriteTokens: "gen_ai.usage.cache_creation.input_tokens",
  toolName: "gen_ai.tool.name",
  toolType: "gen_ai.tool.type",
} as const;
