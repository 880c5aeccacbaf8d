/** Limits of turns per period or in total. */
export const TURN_LIMITS = [
  "cost_per_day",
  "cost_per_week",
  "cost_per_month",
  "cost_total",
  "tokens_per_day",
  "tokens_per_week",
  "tokens_per_month",
  "tokens_total",
  "requests_per_day",
  "requests_per_month",
] as const;
export const READING_LIMITS = ["pages_per_day", "pages_per_month"] as const;
export const STORAGE_LIMITS = ["stored_bytes", "documents"] as const;
/** Limits per 60 seconds, and of concurrent turns. */
export const TURN_RATE_LIMITS = [
  "requests_per_minute",
  "tokens_per_minute",
  "concurrent_turns",
  "concurrent_streams",
] as const;
export const RATE_LIMITS = [...TURN_RATE_LIMITS, "concurrent_runs"] as const;
export type LimitName = (
  | typeof TURN_LIMITS
  | typeof READING_LIMITS
  | typeof STORAGE_LIMITS
  | typeof RATE_LIMITS
)[number];
