import { z } from "zod";
import { isUuid } from "#events/ids.ts";
import { getApproval } from "#projections/runs/approvals.ts";
import { requireBuilder } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";

const FoundThing = z
  .object({
    kind: z
      .string()
      .describe(
        "`turn` (a request to a model), `user` (a member), `approval`, or the aggregate in the name of its stream: `run`, `document`, `key` …",
      ),
    id: z.string(),
  })
  .meta({ title: "FoundThing" });

/** Normalizes an id as found in APIs, links and messages: removes prefixes and the stream's type, and ignores case. */
const bareId = (text: string): string =>
  /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/i.exec(text)?.[0].toLowerCase() ?? text.trim();

/** Finds the thing that an id belongs to, for builders, admins and owners. */
export function findRoute(app: App, http: Http): void {
  const schema = {
    tags: ["Audit"],
    security: [{ session: [] }],
    summary: "Find what an id names",
    description:
      "Any id: of a thing, of a completion or response (`chatcmpl-…`, `resp_…`), `x-request-id`, `x-thread-id` or a trace. At most 20 things, none if the id names nothing of the organization. " +
      "A request is found at any age if this service made its id; traces and ids that clients chose are looked for in the newest 50,000 events.",
    querystring: z.object({
      id: z
        .string()
        .trim()
        .min(1)
        .max(300)
        .regex(/^\P{Cc}+$/u, "must have no control characters"),
    }),
    response: { 200: z.object({ data: z.array(FoundThing) }) },
  };
  app.get("/find", { onRequest: requireBuilder(http), schema }, async (request) => {
    const { organization_id } = request.caller;
    const id = bareId(request.query.id);
    const things = isUuid(id) ? await http.idFinder.things(organization_id, id) : [];
    if (things.length > 0) return { data: things };
    const approval = await getApproval(http.db, organization_id, id);
    if (approval) return { data: [{ kind: "approval", id }] };
    await request.acquireLongRead();
    return { data: await http.idFinder.ofRequest(organization_id, id) };
  });
}
