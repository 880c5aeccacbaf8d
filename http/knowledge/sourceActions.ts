import { z } from "zod";
import { DeleteSource, PAGE_RESULTS, ReadSource } from "#events/source.ts";
import { listSourcePages } from "#projections/sources/pages.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { describeList, pageResponse } from "../base/pageResponse.ts";
import { checkNothingHeld } from "./checkNothingHeld.ts";
import { commandFor, SOURCE_ID_ROUTE, requireSource } from "./requireSource.ts";
import { PageOfSource, presentSource, presentPage, Source } from "./sourceShape.ts";

/** Routes that read a source now, show what it found, and delete it. */
export function sourceActionRoutes(app: App, http: Http): void {
  const starting = { ...SOURCE_ID_ROUTE, summary: "Read a source now", response: { 202: Source } };
  app.post("/sources/:id/read", { schema: starting }, async (request, reply) => {
    const { id: source_id } = await requireSource(http, request, request.params.id);
    const data = { source_id };
    await http.send(ReadSource, { ...commandFor(request, source_id), data, requireProjected: true });
    return reply.code(202).send(presentSource(await requireSource(http, request, source_id)));
  });

  const listing = describeList(
    SOURCE_ID_ROUTE,
    "List the pages of a source, those that were read last first",
    PageOfSource,
  );
  const filtered = { ...listing, querystring: listing.querystring.extend({ result: z.enum(PAGE_RESULTS).optional() }) };
  app.get("/sources/:id/pages", { schema: filtered }, async (request) => {
    const { id } = await requireSource(http, request, request.params.id);
    const { query } = request;
    return pageResponse(query, (page) => listSourcePages(http.db, id, query.result, page), presentPage);
  });

  const deleting = {
    ...SOURCE_ID_ROUTE,
    summary: "Delete a source",
    querystring: z.object({
      documents: z.enum(["true", "false"]).default("false").describe("Whether its documents are deleted, too."),
    }),
    response: { 204: z.null() },
  };
  app.delete("/sources/:id", { schema: deleting }, async (request, reply) => {
    const { id: source_id } = await requireSource(http, request, request.params.id);
    const data = { source_id, documents: request.query.documents === "true" };
    if (data.documents) await checkNothingHeld(http, request.caller.organization_id, { kind: "source", id: source_id });
    await http.send(DeleteSource, { ...commandFor(request, source_id), data, requireProjected: true });
    return reply.code(204).send(null);
  });
}
