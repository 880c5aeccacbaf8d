import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { streamName } from "#events/ids.ts";
import { DeleteTurn } from "#events/thread.ts";
import type { Http } from "../base/deps.ts";
import { cancelResponse } from "./cancelResponse.ts";
import type { ResponseRow } from "./lookups.ts";
import { responseId } from "../turns/responseId.ts";

export const DeletedResponse = z
  .object({ id: z.string(), object: z.literal("response"), deleted: z.literal(true) })
  .meta({ title: "DeletedResponse" });

/** Deletes a response and the turn that prompted it; a running one is stopped first. */
export async function deleteResponse(
  http: Http,
  request: FastifyRequest,
  row: ResponseRow,
): Promise<z.infer<typeof DeletedResponse>> {
  const { scope } = row;
  await cancelResponse(http, request, scope, row);
  await http.send(DeleteTurn, {
    stream: streamName("thread", row.thread_id),
    organization_id: row.organization_id,
    principal: request.caller.principal,
    request_id: request.id,
    data: { turn_id: row.id, scope },
    waitFor: ["turns"],
    requireProjected: true,
  });
  return { id: responseId(row.id), object: "response", deleted: true };
}
