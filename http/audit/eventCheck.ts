import { z } from "zod";
import { requireAdmin } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { createCursor, readCursor } from "./cursor.ts";

/** Events that one request checks. */
const MAX_EVENTS = 1_000;

const Query = z.object({
  after: z.string().optional().describe("`next_after` of the answer before. Default: before the first event."),
  up_to: z.string().optional().describe("Cursor of the last event to check. Default: the newest one."),
});
const Check = z.object({
  checked: z.int().describe("Events of this answer that are what was written."),
  hash: z
    .string()
    .nullable()
    .describe("Of the last of them (SHA-256, hex). It covers all events of the log before it."),
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
});

/** The organization's part of the hash chain, for owners and admins (ADR 53). */
export function eventCheckRoute(app: App, http: Http): void {
  const schema = {
    tags: ["Audit"],
    security: [{ session: [] }],
    summary: "Check that events are what was written",
    description:
      "Recomputes the hash of each event of the organization and compares it with the stored one, oldest first, up to 1,000 events for each request.",
    querystring: Query,
    response: { 200: Check },
  };
  app.get("/events/check", { onRequest: requireAdmin(http), schema }, async ({ caller, query }) => {
    const { organization_id } = caller;
    const after = (await readCursor(http, organization_id, "after", query.after)) ?? 0;
    const upTo = (await readCursor(http, organization_id, "up_to", query.up_to)) ?? Number.MAX_SAFE_INTEGER;
    const toCursor = createCursor(http, organization_id);
    const { checked, last, broken } = await http.checkChain(organization_id, { after, upTo, limit: MAX_EVENTS });
    const isLeft = !broken && last !== undefined && last.position < upTo;
    return {
      checked,
      hash: last?.hash ?? null,
      broken: broken ? { ...broken, cursor: toCursor(broken.position) } : null,
      next_after: isLeft ? toCursor(last.position) : null,
    };
  });
}
