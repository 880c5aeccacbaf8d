import { queryOptions } from "@tanstack/react-query";
import { address, pageQuery, queryOne } from "./call.ts";
import type { Page } from "./types.ts";

/* What the organization used, for administrators. */

export const GROUPINGS = ["day", "model", "project", "key", "person", "user", "agent", "workflow", "label"] as const;
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
  /** US dollars, as far as known; null if no cost is known. */
  cost: string | null;
  /** Turns whose model had no price when they ended. */
  turns_without_cost: number;
}

/** The field with the grouping's name identifies the owner of these sums; null if they have none. */
export type UsageRow = UsageSums & { [group in Grouping]?: string | null } & {
  /** Id of the person, by user. */
  member?: string | null;
  /** Null once the item is deleted. */
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
/** No event reports changes of the sums. */
const RENEWED_MS = 30_000;

/** The service validates the days and names an invalid field. */
function dayAfter(day: string): string {
  const date = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(date.getTime())) return day;
  date.setUTCDate(date.getUTCDate() + 1);
  return date.toISOString().slice(0, 10);
}

/** The grouping of the sums. */
export interface Groups {
  by: Grouping;
  /** For the grouping by label: the label's name. */
  label: string | undefined;
}

const daysOf = ({ from, to }: Period) => ({ from, to: to && dayAfter(to) });
const queryOf = (period: Period, { by, label }: Groups) => ({ ...daysOf(period), group_by: by, label });

/** One page of the groups; `page` counts from 0. */
export const getUsage = (period: Period, groups: Groups, page = 0) =>
  queryOptions({
    queryKey: ["usage", period, groups, page],
    queryFn: queryOne<Usage>("usage", { ...queryOf(period, groups), ...pageQuery(page, GROUPS_PER_PAGE) }),
    refetchInterval: RENEWED_MS,
    refetchOnMount: "always",
  });

/** The download address of all groups. */
export const csvAddress = (period: Period, groups: Groups): string =>
  address("usage", { ...queryOf(period, groups), format: "csv" }).href;

/** The name of a label, and the number of its requests. */
export interface UsedLabel {
  label: string;
  turns: number;
}

/** The most used labels, up to one page. */
export const getUsedLabels = (period: Period) =>
  queryOptions({
    queryKey: ["usage", "labels", period],
    queryFn: queryOne<Page<UsedLabel>>("usage/labels", { ...daysOf(period), limit: GROUPS_PER_PAGE }),
    refetchInterval: RENEWED_MS,
    refetchOnMount: "always",
  });
