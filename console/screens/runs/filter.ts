import type { RunFilter } from "../../api/queries.ts";
import { startOfDay } from "../../format/days.ts";

/** The parameters in the address. `from` and `to` are days of the creation in the person's time zone, both included. */
export type RunSearch = RunFilter;

/** `until` keeps rows in place while new runs start. */
export function toFilter({ from, to, ...search }: RunSearch, until: string): RunFilter {
  const end = startOfDay(to, 1);
  return { ...search, from: startOfDay(from), to: end && end < until ? end : until };
}
