import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { isUuid } from "#events/ids.ts";
import { readOwner } from "#projections/owner.ts";
import { getAnyResponse, listResponsesOf, type OwnedResponse } from "#projections/turns/responses.ts";
import { DeletedResponse, deleteResponse } from "../agents/deleteResponse.ts";
import { findResponse } from "../agents/lookups.ts";
import { responseId } from "../turns/responseId.ts";
import { requireAdmin } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { findOrWait } from "../base/findById.ts";
import { OwnerName } from "./owner.ts";
import { cursorList, CursorQuery, readCursorPage } from "./page.ts";

const ListedResponse = z
  .object({
    id: z.string(),
    object: z.literal("response"),
    owner: z.string().describe("`key:<id>` or `person:<id>`."),
    agent_id: z.string(),
    thread_id: z.string(),
    model: z.string(),
    status: z.enum(["running", "completed", "failed", "stopped"]),
    title: z.string().nullable().describe("The first words of the user; null if there are none."),
    created_at: z.iso.datetime(),
    completed_at: z.iso.datetime().nullable(),
  })
  .meta({ title: "ResponseSummary" });

const present = (response: OwnedResponse): z.infer<typeof ListedResponse> => ({
  id: responseId(response.id),
  object: "response",
  owner: response.principal,
  agent_id: response.agent_id,
  thread_id: response.thread_id,
  model: response.model,
  status: response.status,
  title: response.title,
  created_at: response.started_at.toISOString(),
  completed_at: response.ended_at?.toISOString() ?? null,
});

async function remove(http: Http, request: FastifyRequest, id: string): Promise<z.infer<typeof DeletedResponse>> {
  const { organization_id } = request.caller;
  const turn_id = id.replace(/^resp_/, "");
  const find = () => getAnyResponse(http.db, organization_id, turn_id);
  const found = isUuid(turn_id) ? await findOrWait(find, () => http.waitUntilCurrent(["turns"])) : undefined;
  if (!found) throw new ApiError("response_not_found", "No response has this id.", { param: "id" });
  return deleteResponse(http, request, await findResponse(http, organization_id, found.scope, responseId(found.id)));
}

/** The responses of any owner, for owners and admins. */
export function responseRoutes(app: App, http: Http): void {
  const onRequest = requireAdmin(http);
  const baseSchema = { tags: ["Agents"], security: [{ session: [] }] };

  const listing = {
    ...baseSchema,
    summary: "List the responses to a key or person, or of an agent, newest first",
    querystring: CursorQuery.extend({ owner: OwnerName }),
    response: { 200: cursorList(ListedResponse) },
  };
  app.get("/responses", { onRequest, schema: listing }, async ({ caller, query }) => {
    await http.waitUntilCurrent(["turns"]);
    const owner = readOwner(query.owner);
    const { organization_id } = caller;
    return readCursorPage(
      http,
      caller,
      query,
      (page) => listResponsesOf(http.db, organization_id, owner, page),
      present,
    );
  });

  const deleting = {
    ...baseSchema,
    params: z.object({ id: z.string() }),
    summary: "Delete a response of any owner, and the turn that prompted it",
    response: { 200: DeletedResponse },
  };
  app.delete("/responses/:id", { onRequest, schema: deleting }, (request) => remove(http, request, request.params.id));
}
