import { countRequests, listRequests } from "#projections/turns/listRequests.ts";
import { listUserScopes } from "#projections/userScopes.ts";
import { isBuilder, requireSession } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { MAX_SHORT_PAGE, readPage } from "../base/pagination.ts";
import { toDate } from "../base/times.ts";
import { presentRequest, readPlace, RequestPage, RequestQuery, splitWords, writePlace } from "./requestShape.ts";

/** The turns of chats and agents. Builders, admins and owners see all of the organization, other people their own. */
export function requestRoutes(app: App, http: Http): void {
  const listing = {
    tags: ["Audit"],
    security: [{ session: [] }],
    summary: "List the requests to models, newest first",
    description:
      "The turns of chats and of agents. Builders, admins and owners see those of the whole organization, other people their own. " +
      "A turn that has been deleted is not listed.",
    querystring: RequestQuery,
    response: { 200: RequestPage },
  };
  app.get("/turns", { onRequest: requireSession(http), schema: listing }, async (request) => {
    const { caller, query } = request;
    const { status = null, model = null, agent_id = null, thread_id = null, q: error = null, principal = null } = query;
    const words = splitWords(query.question ?? "");
    if (words && query.counts)
      throw new ApiError(null, "counts: cannot be combined with question.", {
        param: "counts",
      });
    const after = readPlace(query.after);
    const { limit } = readPage(query);
    const wanted = principal === "me" ? caller.principal : principal;
    // for these callers, another principal looks like one without requests
    if (!isBuilder(caller) && wanted !== null && wanted !== caller.principal)
      return {
        data: [],
        next_after: null,
        has_more: false,
        ...(query.counts && { counts: [], counts_complete: true }),
      };
    await http.waitUntilCurrent(["turns"]);
    if (words || query.counts || query.user !== undefined || limit > MAX_SHORT_PAGE) await request.acquireLongRead();
    const { organization_id } = caller;
    const scopes = query.user === undefined ? null : await listUserScopes(http.db, organization_id, query.user);
    const filter = {
      status,
      model,
      agent_id: agent_id?.toLowerCase() ?? null,
      thread_id,
      scopes,
      error,
      words,
      principal: isBuilder(caller) ? wanted : caller.principal,
      from: toDate(query.from),
      to: toDate(query.to),
    };
    const { rows, next } = await listRequests(http.db, organization_id, filter, { after, limit });
    const page = { data: rows.map(presentRequest), next_after: next && writePlace(next), has_more: next !== null };
    if (!query.counts) return page;
    const { counts, isWhole } = await countRequests(http.db, organization_id, filter);
    return { ...page, counts, counts_complete: isWhole };
  });
}
