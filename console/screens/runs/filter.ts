import type { RunFilter } from "../../api/queries.ts";
import { startOfDay } from "../../format/days.ts";

/** What the address says. `from` and `to` are days of the person's own time zone on which runs were created, both included. */
export type RunSearch = RunFilter;

/** `until` keeps rows in place while new runs start. */
export function toFilter({ from, to, ...search }: RunSearch, until: string): RunFilter {
  const end = startOfDay(to, 1);
  return { ...search, from: startOfDay(from), to: end && end < until ? end : until };
}
