import { z } from "zod";
import { mapInSlices } from "#events/slices.ts";
import { requireAdmin } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { createCursor, readCursor } from "./cursor.ts";
import { digestEvent } from "./eventDigest.ts";
import { presentEvent } from "./eventShape.ts";

/** Maximum events checked per request. */
const MAX_EVENTS = 1_000;

const Query = z.object({
  after: z.string().optional().describe("`next_after` of the previous answer. Default: before the first event."),
  up_to: z.string().optional().describe("Cursor of the last event to check. Default: the newest one."),
});
const Check = z
  .object({
    checked: z.int().describe("Number of events, up to the first broken one, that are what was written."),
    digests: z
      .array(z.string())
      .describe(
        "Of each of them, in order: SHA-256 (hex) of its fields as `GET /api/events` shows them, for a comparison.",
      ),
    broken: z
      .object({
        cursor: z.string(),
        stream: z.string(),
        version: z.int(),
        type: z.string(),
        problem: z.string(),
      })
      .nullable()
      .describe("The first event that is not what was written, or whose predecessor is missing."),
    next_after: z.string().nullable().describe("Null when no event is left, or one is broken."),
  })
  .meta({ title: "EventCheck" });

/** Verifies the organization's part of the hash chain, for owners and admins (ADR 53). */
export function eventCheckRoute(app: App, http: Http): void {
  const schema = {
    tags: ["Audit"],
    security: [{ session: [] }],
    summary: "Check that events are what was written",
    description:
      "Recomputes the hash of each event of the organization and compares it with the stored one, oldest first, up to 1,000 events for each request. " +
      "A digest is the SHA-256 of the JSON text of `[stream, version, type, recorded_at, principal, request_id, trace_id, command_id, data, sealed_hash]`, without spaces.",
    querystring: Query,
    response: { 200: Check },
  };
  app.get("/events/check", { onRequest: requireAdmin(http), schema }, async (request) => {
    const { caller, query } = request;
    const { organization_id } = caller;
    const after = (await readCursor(http, organization_id, "after", query.after)) ?? 0;
    const upTo = (await readCursor(http, organization_id, "up_to", query.up_to)) ?? Number.MAX_SAFE_INTEGER;
    const toCursor = createCursor(http, organization_id);
    await request.acquireLongRead();
    const { events, broken } = await http.checkChain(organization_id, { after, upTo, limit: MAX_EVENTS });
    const last = events.at(-1)?.position;
    const hasMore = !broken && last !== undefined && last < upTo;
    return {
      checked: events.length,
      digests: await mapInSlices(events, (event) => digestEvent(presentEvent(event, toCursor))),
      broken: broken ? { ...broken, cursor: toCursor(broken.position) } : null,
      next_after: hasMore ? toCursor(last) : null,
    };
  });
}
