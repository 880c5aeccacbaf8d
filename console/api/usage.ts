import { queryOptions } from "@tanstack/react-query";
import { address, call } from "./call.ts";
import type { Page } from "./types.ts";

/* What the organization used, for administrators. */

export const GROUPINGS = ["day", "model", "project", "key", "person", "user", "agent", "workflow"] as const;
export type Grouping = (typeof GROUPINGS)[number];

export interface UsageSums {
  turns: number;
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  /** Included in `prompt_tokens`. */
  cached_tokens: number;
  /** Included in `completion_tokens`. */
  reasoning_tokens: number;
  /** Pages of files that were read. */
  pages: number;
  /** US dollars, as far as it is known; null if nothing is. */
  cost: string | null;
  /** Turns whose model had no price when they ended. */
  turns_without_cost: number;
}

/** The field with the grouping's name identifies the owner of these sums; null when they have none. */
export type UsageRow = UsageSums & { [group in Grouping]?: string | null } & {
  /** Id of the person, by user. */
  member?: string | null;
  /** Null once the thing is deleted. */
  name?: string | null;
};

export interface Usage extends Page<UsageRow> {
  /** Moments; `to` is excluded. */
  from: string;
  to: string;
  totals: UsageSums;
}

/** Days in UTC, both included. */
export interface Period {
  from?: string | undefined;
  to?: string | undefined;
}

export const GROUPS_PER_PAGE = 500;
/** No event says that the sums changed. */
const RENEWED_MS = 30_000;

/** What is no day is left to the service, which names the field. */
function dayAfter(day: string): string {
  const date = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(date.getTime())) return day;
  date.setUTCDate(date.getUTCDate() + 1);
  return date.toISOString().slice(0, 10);
}

const queryOf = ({ from, to }: Period, group_by: Grouping) => ({ from, to: to && dayAfter(to), group_by });

/** One page of the groups; `page` counts from 0. */
export const getUsage = (period: Period, group_by: Grouping, page = 0) =>
  queryOptions({
    queryKey: ["usage", period, group_by, page],
    queryFn: ({ signal }) => {
      const query = { ...queryOf(period, group_by), limit: GROUPS_PER_PAGE, offset: page * GROUPS_PER_PAGE };
      return call<Usage>("usage", { signal, query });
    },
    refetchInterval: RENEWED_MS,
    refetchOnMount: "always",
  });

/** Where all groups can be downloaded. */
export const csvOf = (period: Period, group_by: Grouping): string =>
  address("usage", { ...queryOf(period, group_by), format: "csv" }).href;
