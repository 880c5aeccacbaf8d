import type { Rule } from "../../api/triggers.ts";
import { describeCron } from "../../format/cron.ts";
import { formatDuration, formatExact } from "../../format/index.ts";

/** The due times of a schedule, in words. */
export function describeRule(rule: Rule): string {
  if ("cron" in rule) return `${describeCron(rule.cron)} (${rule.time_zone})`;
  return "every" in rule ? `every ${formatDuration(rule.every * 1_000)}` : `once, ${formatExact(rule.at)}`;
}
