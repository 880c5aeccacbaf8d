import { z } from "zod";
import { ownerScope } from "#events/scope.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { DeletedThread, deleteThread } from "../turns/deleteThread.ts";
import { Messages, MessagesQuery, readMessages, readThreadPath } from "../turns/threadMessages.ts";

const Params = z.object({ id: z.string() });

/** Extensions of OpenAI's API: read and delete a stored thread of the key and user. */
export function threadRoutes(app: App, http: Http): void {
  const shared = { tags: ["Threads"], security: [{ key: [] }], params: Params };

  const reading = {
    ...shared,
    querystring: MessagesQuery,
    summary: "The messages of a thread",
    response: { 200: Messages },
  };
  app.get("/threads/:id/messages", { schema: reading }, async (request) => {
    const { caller, params, query } = request;
    const id = readThreadPath(params.id);
    const scope = ownerScope(caller.principal, query.user);
    return readMessages(http, request, { id, scope }, query);
  });

  const deleting = {
    ...shared,
    querystring: MessagesQuery.pick({ user: true }),
    summary: "Delete a thread",
    response: { 200: DeletedThread },
  };
  app.delete("/threads/:id", { schema: deleting }, async (request) => {
    const id = readThreadPath(request.params.id);
    return deleteThread(http, request, id, ownerScope(request.caller.principal, request.query.user));
  });
}
