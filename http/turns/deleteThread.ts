import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { streamName } from "#events/ids.ts";
import { waitForStop } from "#events/stopGrace.ts";
import { DeleteThread } from "#events/thread.ts";
import { getTurn, newestTurn } from "#projections/turns/query.ts";
import type { Http } from "../base/deps.ts";

export const DeletedThread = z
  .object({ id: z.string(), object: z.literal("thread"), deleted: z.literal(true) })
  .meta({ title: "DeletedThread" });

/** Stops the running turn of a thread. A client that waits for the whole answer gets an error once the thread is deleted. */
async function stopNewestTurn(
  { db, frames, waitUntilCurrent }: Http,
  organization: string,
  thread: string,
  scope: string,
) {
  await waitUntilCurrent(["turns"], streamName("thread", thread));
  const id = await newestTurn(db, organization, thread, scope);
  if (id === undefined) return;
  const hasEnded = async () => (await getTurn(db, organization, id))?.status !== "running";
  if (await hasEnded()) return;
  frames.requestStop(organization, id, "deleted");
  await waitForStop(hasEnded);
}

/** Deletes a thread of a scope and stops its running turn. Throws 404 `thread_not_found`. */
export async function deleteThread(
  http: Http,
  request: FastifyRequest,
  id: string,
  scope: string,
): Promise<z.infer<typeof DeletedThread>> {
  const { organization_id, principal } = request.caller;
  // a turn that cannot be stopped does not prevent the deletion
  await stopNewestTurn(http, organization_id, id, scope).catch((err: unknown) =>
    request.log.warn({ err, request_id: request.id }, "running turn of a deleted thread not stopped"),
  );
  await http.send(DeleteThread, {
    stream: streamName("thread", id),
    organization_id,
    principal,
    request_id: request.id,
    data: { scope },
    waitFor: ["turns"],
  });
  return { id, object: "thread", deleted: true };
}
