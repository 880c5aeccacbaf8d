import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { streamName } from "#events/ids.ts";
import { ownerScope } from "#events/scope.ts";
import { readOwner, type OwnedPage } from "#projections/owner.ts";
import { getThread, listOwnThreads, listThreadsOf, type ThreadRow } from "#projections/turns/threads.ts";
import { isAdmin, requireCredential } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { DeletedThread, deleteThread } from "../turns/deleteThread.ts";
import { Messages, MessagesQuery, readMessages, readThreadPath, threadNotFound } from "../turns/threadMessages.ts";
import { OwnerName, requireAllOwners } from "./owner.ts";
import { cursorList, CursorQuery, readCursorPage } from "./page.ts";
import { presentThread, Thread } from "./threadShape.ts";

const User = MessagesQuery.pick({ user: true });
const Params = z.object({ id: z.string() });

type ThreadRequest = Pick<FastifyRequest, "caller"> & { params: { id: string }; query: { user?: string | undefined } };

const isOwn = ({ scope, agent_id }: ThreadRow, { caller, query }: ThreadRequest): boolean =>
  scope === ownerScope(caller.principal, query.user, agent_id ?? undefined);

/** Finds the thread in the path: the caller's own, or with `any` one of any owner. Throws 404 `thread_not_found`. */
async function findThread(http: Http, request: ThreadRequest, any: boolean): Promise<ThreadRow> {
  const id = readThreadPath(request.params.id);
  await http.waitUntilCurrent(["turns"], streamName("thread", id));
  const row = await getThread(http.db, request.caller.organization_id, id);
  if (!row || !(any || isOwn(row, request))) throw threadNotFound();
  return row;
}

/** The caller's threads, in chats and with agents. Owners and admins can list and delete the threads of all owners. */
export function threadRoutes(app: App, http: Http): void {
  const onRequest = requireCredential(http);
  const baseSchema = { tags: ["Threads"], security: [{ key: [] }] };

  const listing = {
    ...baseSchema,
    summary: "List your own threads, newest first",
    description:
      "Those of the caller's key or person, and of `user` if it is sent. With `owner`, an owner or an admin lists the threads of any key, " +
      "person or agent, whatever their user.",
    querystring: CursorQuery.extend(User.shape).extend({ owner: OwnerName.optional() }),
    response: { 200: cursorList(Thread) },
  };
  app.get("/threads", { onRequest, schema: listing }, async ({ caller, query }) => {
    const { owner, user } = query;
    const { organization_id, principal } = caller;
    if (owner !== undefined) requireAllOwners(caller);
    await http.waitUntilCurrent(["turns"]);
    const read = (page: OwnedPage) =>
      owner === undefined
        ? listOwnThreads(http.db, organization_id, { principal, user }, page)
        : listThreadsOf(http.db, organization_id, readOwner(owner), page);
    return readCursorPage(http, caller, query, read, presentThread);
  });

  const itemSchema = { ...baseSchema, params: Params, querystring: User };
  const reading = { ...itemSchema, summary: "Get one of your own threads", response: { 200: Thread } };
  app.get("/threads/:id", { onRequest, schema: reading }, async (request) =>
    presentThread(await findThread(http, request, false)),
  );

  const messages = {
    ...itemSchema,
    querystring: MessagesQuery,
    summary: "The messages of one of your own threads",
    description: "In a chat or with an agent. Owners and admins read what others said in the trace of a turn.",
    response: { 200: Messages },
  };
  app.get("/threads/:id/messages", { onRequest, schema: messages }, async (request) => {
    const thread = await findThread(http, request, false);
    return readMessages(http, request, thread, request.query);
  });

  const deleting = {
    ...itemSchema,
    summary: "Delete a thread",
    description: "One of the caller's own; an owner or an admin deletes any thread of the organization.",
    response: { 200: DeletedThread },
  };
  app.delete("/threads/:id", { onRequest, schema: deleting }, async (request) => {
    const { id, scope } = await findThread(http, request, isAdmin(request.caller));
    return deleteThread(http, request, id, scope);
  });
}
