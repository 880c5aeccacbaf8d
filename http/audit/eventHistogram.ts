import { z } from "zod";
import { requireAdmin } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { createCursor } from "./cursor.ts";
import { eventFilters, readEventFilter } from "./eventFilters.ts";

const Histogram = z
  .object({
    bar_seconds: z.int().describe("Length of a bar. Bars begin at multiples of it, UTC."),
    complete: z.boolean().describe("False: there are older events, which are not counted."),
    data: z
      .array(
        z.object({
          at: z.iso.datetime().describe("Where the bar begins."),
          count: z.int(),
          before: z
            .string()
            .describe("`after` of a list with `order=newest` that begins with the newest event of the bar."),
        }),
      )
      .describe("Bars with events, oldest first: 60 at most."),
  })
  .meta({ title: "EventHistogram" });

/** Event counts over time, for owners and admins. */
export function eventHistogramRoute(app: App, http: Http): void {
  const schema = {
    tags: ["Audit"],
    security: [{ session: [] }],
    summary: "Count the events of the organization over time",
    description:
      "Counts the newest 50,000 events of the organization, of the stream, of the principal or of the command, and of them those of the types. The length of a bar follows from the time that they span.",
    querystring: z.object(eventFilters),
    response: { 200: Histogram },
  };
  app.get("/events/histogram", { onRequest: requireAdmin(http), schema }, async (request) => {
    const { organization_id } = request.caller;
    const filter = readEventFilter(request.query);
    await request.acquireLongRead();
    const { seconds, isComplete, bars } = await http.readEventHistogram(organization_id, filter);
    const toCursor = createCursor(http, organization_id);
    return {
      bar_seconds: seconds,
      complete: isComplete,
      data: bars.map(({ at, count, last }) => ({ at: at.toISOString(), count, before: toCursor(last + 1) })),
    };
  });
}
