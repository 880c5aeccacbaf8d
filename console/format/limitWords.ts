import type { LimitName } from "../api/limitNames.ts";

/** What a limit counts; for money, only its period. */
export const LIMIT_WORDS: Record<LimitName, string> = {
  requests_per_day: "requests a day",
  requests_per_month: "requests a month",
  tokens_per_day: "tokens a day",
  tokens_per_week: "tokens a week",
  tokens_per_month: "tokens a month",
  tokens_total: "tokens in total",
  cost_per_day: "a day",
  cost_per_week: "a week",
  cost_per_month: "a month",
  cost_total: "in total",
  requests_per_minute: "requests in a minute",
  tokens_per_minute: "tokens in a minute",
  concurrent_turns: "requests at a time",
  concurrent_streams: "streams at a time",
  concurrent_runs: "runs at a time",
  pages_per_day: "pages a day",
  pages_per_month: "pages a month",
  stored_bytes: "bytes",
  documents: "documents",
};

/** The same for a name from the service, which may be of a newer release. */
export const limitWords = (name: string): string => (LIMIT_WORDS as Record<string, string>)[name] ?? name;
