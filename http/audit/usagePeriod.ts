import { z } from "zod";
import { currentTime } from "#events/clock.ts";
import { DAY_MS } from "#events/units.ts";
import { ApiError } from "../base/errors.ts";
import { isStorable, Moment } from "../base/moment.ts";
import { PageQuery } from "../base/pagination.ts";

/** Length of the period if the query has no start. */
const DEFAULT_DAYS = 30;

/** The query of a paged list about a period. */
export const PeriodQuery = PageQuery.extend({
  from: z
    .string()
    .optional()
    .describe("Start of the period, included: a day or a moment. Default: 30 days before `to`."),
  to: z.string().optional().describe("End of the period, excluded: a day or a moment. Default: now."),
});

const DAY = /^\d{4}-\d\d-\d\d$/;

/** Reads a time. A day means its first moment in UTC. Throws a 400. */
function readMoment(param: "from" | "to", text: string | undefined): Date | undefined {
  if (text === undefined || text === "") return undefined;
  const date = new Date(DAY.test(text) ? `${text}T00:00:00Z` : text);
  const isValid = DAY.test(text) ? date.toJSON()?.startsWith(text) && isStorable(date) : Moment.safeParse(text).success;
  if (isValid) return date;
  throw new ApiError(null, `${param}: must be a day (YYYY-MM-DD) or a moment (RFC 3339).`, { param });
}

/** Reads a period: `from` inclusive, `to` exclusive. Throws a 400 that names the field. */
export function readPeriod(query: z.infer<typeof PeriodQuery>): { from: Date; to: Date } {
  const to = readMoment("to", query.to) ?? new Date(currentTime());
  const from = readMoment("from", query.from) ?? new Date(Math.max(0, to.getTime() - DEFAULT_DAYS * DAY_MS));
  if (from > to) throw new ApiError(null, "from: must not be after to.", { param: "from" });
  return { from, to };
}
