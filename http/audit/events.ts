import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { eventDefinitions } from "#events/index.ts";
import { isUuid, partsOf } from "#events/ids.ts";
import type { App } from "../app.ts";
import { requireAdmin } from "../auth/authenticate.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { PageQuery, pageOf } from "../page.ts";
import { AuditEvent, presentEvent } from "./eventShape.ts";
import { createTail } from "./tail.ts";

const Query = z.object({
  after: z.string().optional().describe("Position of the last event that is known; 0 by default, by SSE the newest."),
  stream: z.string().optional().describe("Events of one stream: `<aggregate>-<id>`."),
  type: z.string().optional().describe("Events of these types, separated by commas."),
  limit: PageQuery.shape.limit,
});
const Slice = z.object({
  data: z.array(AuditEvent),
  next_after: z.int().describe("`after` of the next request."),
  has_more: z.boolean(),
});

const refuse = (param: string, why: string) => new ApiError(null, `${param}: ${why}`, { param });

/** A position as a client sends it; undefined for none. Throws a 400. */
function positionOf(param: string, text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw refuse(param, "must be the position of an event.");
}

/** What is asked for. Throws a 400. */
function filterOf({ stream, type }: z.infer<typeof Query>) {
  if (stream !== undefined && !isUuid(partsOf(stream).id)) throw refuse("stream", "must be <aggregate>-<id>.");
  const types = type?.split(",");
  const unknown = types?.find((name) => !eventDefinitions.has(name));
  if (unknown !== undefined)
    throw refuse("type", `there are no events of type ${JSON.stringify(unknown.slice(0, 200))}.`);
  return { stream, types };
}

const wantsStream = ({ headers }: FastifyRequest): boolean =>
  (headers.accept ?? "")
    .toLowerCase()
    .split(/[,;]/)
    .some((part) => part.trim() === "text/event-stream");

/** The organization's slice of the log (decisions: accounts), for owners and admins. */
export function eventRoutes(app: App, http: Http): void {
  const onRequest = requireAdmin(http);
  const tail = createTail(http, onRequest);
  const reading = {
    tags: ["Audit"],
    security: [{ session: [] }],
    summary: "Events of the organization, the oldest first",
    description:
      "With `Accept: text/event-stream` they come as they happen: `id` is the position, `Last-Event-ID` goes on after it, from any process. " +
      "Personal fields are shown while what they belong to is there; credentials never are.",
    querystring: Query,
    response: { 200: Slice },
  };
  app.get("/events", { onRequest, schema: reading }, async (request, reply) => {
    const { caller, query, headers } = request;
    const filter = filterOf(query);
    const after = positionOf("after", query.after);
    if (wantsStream(request)) {
      const seen = positionOf("Last-Event-ID", headers["last-event-id"] as string | undefined) ?? after;
      await tail(request, reply, { ...filter, after: seen });
      return reply;
    }
    const { limit } = pageOf(query);
    const { events, more } = await http.slice(caller.organization_id, { ...filter, after: after ?? 0, limit });
    return {
      data: events.map(presentEvent),
      next_after: events.at(-1)?.position ?? after ?? 0,
      has_more: more,
    };
  });
}
