import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { newId, streamName } from "#events/ids.ts";
import { PostMessage } from "#events/message.ts";
import { requireCredential } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { createOnce, identifyParts, readIdempotencyKey } from "../base/idempotency.ts";
import { openNewThing } from "./runValues.ts";
import { createWaitForEvents, type WaitForEvents } from "./waitForEvents.ts";

/** Bytes of JSON of the data. */
const MAX_DATA_BYTES = 256 * 1024;
/** How long a request waits for the delivery. It goes on after that. */
const DELIVERY_MS = 10_000;

const Body = z.object({
  name: z.string().min(1).max(200).describe("What `waitForEvent(name)` waits for."),
  data: z.record(z.string(), z.unknown()).nullish().describe("An object of at most 256 KiB of JSON. Default: empty."),
  id: z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, "must be 1 to 255 printable ASCII characters")
    .nullish()
    .describe("Repeating an id delivers nothing again, for two days. Default: the Idempotency-Key."),
});
const Delivery = z.object({
  id: z.string(),
  reached: z.int().nullable().describe("The number of runs that got it; null while the delivery still goes on."),
});

/** An `id` is the same for all callers that reach the same runs; an Idempotency-Key belongs to its caller. */
function identify({ caller, headers, bodyHash }: FastifyRequest, id: string | null | undefined) {
  const { organization_id, principal, project_id } = caller;
  const path = `/api/workflows/events/${project_id ?? ""}`;
  const key = readIdempotencyKey(headers);
  return id == null
    ? identifyParts({ organization_id, principal, path, key, body: bodyHash })
    : identifyParts({ organization_id, principal: "system", path: `${path}/id`, key: id, body: bodyHash });
}

/** The number of runs that a message reached, once it is delivered. */
async function readReached(http: Http, waitFor: WaitForEvents, message_id: string): Promise<number | null> {
  const stream = streamName("message", message_id);
  await waitFor({ stream, version: 1 }, AbortSignal.any([http.closing, AbortSignal.timeout(DELIVERY_MS)]));
  const delivered = (await http.log.publicData(stream, 2)) as { reached: number } | undefined;
  return delivered?.reached ?? null;
}

/** Sends an event to the runs that wait for it. */
export function messageRoutes(app: App, http: Http): void {
  const waitFor = createWaitForEvents(http);
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
    const { name, data, id } = request.body;
    const json = JSON.stringify(data ?? {});
    if (Buffer.byteLength(json) > MAX_DATA_BYTES)
      throw new ApiError("payload_too_large", `data: must have ${MAX_DATA_BYTES} bytes of JSON at most.`, {
        param: "data",
      });
    const { organization_id, principal, project_id } = request.caller;
    const message_id = newId();
    const stream = streamName("message", message_id);
    const { store, stored } = openNewThing(http, organization_id, stream);
    const content = { message_id, project_id, name, data: await store(json) };
    const { blobs, ...keys } = stored();
    const command = { stream, principal, request_id: request.id, ...keys, ...identify(request, id), data: content };
    const { created_id, isNew } = await createOnce(http, PostMessage, command);
    if (!isNew) await Promise.all(blobs.map((blob) => http.blobs.remove(blob)));
    return { id: created_id, reached: await readReached(http, waitFor, created_id) };
  });
}
