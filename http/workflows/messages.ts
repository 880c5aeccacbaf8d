import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { requireCredential } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { refuseInexact } from "../base/exactNumbers.ts";
import { identifyParts, readIdempotencyKey } from "../base/idempotency.ts";
import { createAwaitDelivery, postMessage } from "./postMessage.ts";

const Body = z.object({
  name: z.string().min(1).max(200).describe("What `waitForEvent(name)` waits for."),
  data: refuseInexact(z.record(z.string(), z.unknown()))
    .nullish()
    .describe("An object of at most 256 KiB of JSON. Default: empty."),
  id: z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, "must be 1 to 255 printable ASCII characters")
    .nullish()
    .describe("For two days, an event with the same id is not delivered again. Default: the Idempotency-Key."),
  to: z
    .enum(["all", "one"])
    .nullish()
    .describe(
      "`one`: if several runs wait for it, none gets it, and the answer is 409 `event_matches_several_runs`. Default: `all`.",
    ),
});
const Delivery = z
  .object({
    id: z.string(),
    reached: z.int().nullable().describe("The number of runs that got it; null while it is being delivered."),
  })
  .meta({ title: "EventDelivery" });

/** Identifies a message. An `id` is shared by all callers with access to the same runs; an Idempotency-Key belongs to its caller. */
function identify({ caller, headers, bodyHash }: FastifyRequest, id: string | null | undefined) {
  const { organization_id, principal, project_id } = caller;
  const path = `/api/workflows/events/${project_id ?? ""}`;
  const key = readIdempotencyKey(headers);
  return id == null
    ? identifyParts({ organization_id, principal, path, key, body: bodyHash })
    : identifyParts({ organization_id, principal: "system", path: `${path}/id`, key: id, body: bodyHash });
}

/** A reused `id` is refused like a reused Idempotency-Key. The error names what the client sent. */
export const nameReusedId = (error: unknown, id: string | null | undefined): unknown =>
  id != null && error instanceof ApiError && error.errorCode === "idempotency_key_reused"
    ? new ApiError(error.errorCode, "id: was used with another event; use a new id for a new event.", { param: "id" })
    : error;

/** Sends an event to the runs that wait for it. */
export function messageRoutes(app: App, http: Http): void {
  const awaitDelivery = createAwaitDelivery(http);
  const posting = {
    tags: ["Workflows"],
    security: [{ key: [] }],
    summary: "Send an event to the runs that wait for it",
    description:
      "Every live run that waits for the name at this moment, and whose `match` fits, continues with the data. An event that no run " +
      "waits for has no effect. A project's key reaches the runs of its project.",
    body: Body,
    response: { 200: Delivery },
  };
  app.post("/events", { onRequest: requireCredential(http), schema: posting }, async (request) => {
    const { name, data, id, to } = request.body;
    const { organization_id, principal, project_id } = request.caller;
    return postMessage(http, awaitDelivery, {
      organization_id,
      project_id,
      principal,
      request_id: request.id,
      identity: identify(request, id),
      name,
      data: data ?? {},
      to: to ?? "all",
    }).catch((error: unknown) => {
      throw nameReusedId(error, id);
    });
  });
}
