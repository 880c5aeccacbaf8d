import { z } from "zod";
import { mapInSlices } from "#events/slices.ts";
import { requireAdmin } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { MAX_SHORT_PAGE, PageQuery, readPage } from "../base/pagination.ts";
import { createCursor, readCursor, readLastEventId } from "./cursor.ts";
import { eventFilters, readEventFilter } from "./eventFilters.ts";
import { exportEvents } from "./exportEvents.ts";
import { AuditEvent, presentEvent, toSseFrame } from "./eventShape.ts";
import { createTail } from "./eventTail.ts";
import { wantsSse } from "./wantsSse.ts";

const Query = z.object({
  after: z
    .string()
    .optional()
    .describe("Cursor of the last event that is known. Default: before the first event; with SSE, after the newest."),
  ...eventFilters,
  order: z
    .enum(["oldest", "newest"], 'must be "oldest" or "newest"')
    .default("oldest")
    .describe("Which events come first. With `newest`, `after` leads to older events."),
  format: z
    .enum(["json", "jsonl"], 'must be "json" or "jsonl"')
    .default("json")
    .describe("`jsonl`: all events that match, oldest first, one JSON object per line, as a download without pages."),
  limit: PageQuery.shape.limit,
});
const Slice = z.object({
  data: z.array(AuditEvent),
  next_after: z.string().describe("`after` of the next request."),
  has_more: z.boolean(),
});

/** Before the first event, or after the newest one. */
const startOf = (newest_first: boolean): number => (newest_first ? Number.MAX_SAFE_INTEGER : 0);

/** The organization's slice of the log, for owners and admins. */
export function eventRoutes(app: App, http: Http): void {
  const onRequest = requireAdmin(http);
  const tail = createTail(http, onRequest, toSseFrame);
  const reading = {
    tags: ["Audit"],
    security: [{ session: [] }],
    summary: "List the events of the organization",
    description:
      "With `Accept: text/event-stream`, events are sent as they happen. Their `id` is the cursor; `Last-Event-ID` resumes after it, on any server. " +
      "The first frame has only an `id`; everything after it is sent. " +
      "Personal fields are shown until the thing they belong to is deleted. Credentials are never shown.",
    querystring: Query,
    response: { 200: Slice },
  };
  app.get("/events", { onRequest, schema: reading }, async (request, reply) => {
    const { caller, query } = request;
    const filter = readEventFilter(query);
    const { organization_id } = caller;
    const after = await readCursor(http, organization_id, "after", query.after);
    if (wantsSse(request)) {
      const lastSeen = (await readLastEventId(http, request)) ?? after;
      await tail(request, reply, { ...filter, after: lastSeen });
      return reply;
    }
    if (query.format === "jsonl") return exportEvents(http, request, reply, { ...filter, after: after ?? 0 });
    const { limit } = readPage(query);
    const newest_first = query.order === "newest";
    const from = after ?? startOf(newest_first);
    if (limit > MAX_SHORT_PAGE) await request.acquireLongRead();
    const slice = await http.readAuditSlice(organization_id, { ...filter, after: from, limit, newest_first });
    const toCursor = createCursor(http, organization_id);
    return {
      data: await mapInSlices(slice.events, (event) => presentEvent(event, toCursor)),
      next_after: toCursor(slice.events.at(-1)?.position ?? from),
      has_more: slice.more,
    };
  });
}
