import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { streamName } from "#events/ids.ts";
import { findActor } from "#events/runOrigin.ts";
import type { Verification } from "#events/trigger.ts";
import { getRun, type RunRow } from "#projections/runs/query.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { identifyParts, readIdempotencyKey } from "../base/idempotency.ts";
import { isLive } from "./foldRun.ts";
import { readExternalUser, requireSecret, requireSecretOrScheme, requireSignature } from "./hookAuth.ts";
import { isObject } from "#events/json.ts";
import { parseDelivery } from "../base/json.ts";
import { mergeArgs, pickHeaders, readSignedPayload } from "./hookPayload.ts";
import { deliveryId } from "./hookSignature.ts";
import { findRun, runNotFound } from "./lookups.ts";
import { findNewestRun, findRunOfChain } from "./newestRun.ts";
import { createOpenValue } from "./runValues.ts";
import { acceptOpaqueJson } from "./opaqueJson.ts";
import { startRun } from "./startRun.ts";
import { createAwaitDelivery, postMessage, type AwaitDelivery } from "./postMessage.ts";
import { createWaitForEnd, WaitQuery, type WaitForEnd } from "./waitForEnd.ts";

const Started = z
  .object({
    run_id: z.string(),
    status: z.literal("pending"),
    status_url: z.string().describe("URL to poll the run, with the same secret."),
  })
  .meta({ title: "HookRun" });
const Sent = z
  .object({
    id: z.string().describe("The id of the event."),
    reached: z.int().nullable().describe("The number of runs that got it; null while it is being delivered."),
  })
  .meta({ title: "HookEvent" });
const Receipt = z.union([Started, Sent]).meta({ title: "HookReceipt" });
const SlackAnswer = z
  .union([Started, Sent, z.object({ challenge: z.unknown() })])
  .describe("To Slack: the started run, or the challenge with which it checks the address.")
  .meta({ title: "SlackReceipt" });
const PolledRun = z
  .object({
    run_id: z.string(),
    status: z.enum(["pending", "running", "completed", "failed", "cancelled"]),
    result: z.unknown(),
    error: z.string().nullable().describe("Why it failed."),
    external_user_id: z.string().nullable(),
    created_at: z.iso.datetime(),
    completed_at: z.iso.datetime().nullable(),
  })
  .meta({ title: "PolledRun" });

/** Senders that follow Standard Webhooks repeat a delivery with the same `webhook-id`. */
function readKey({ headers }: FastifyRequest): string | undefined {
  return readIdempotencyKey(headers) ?? readIdempotencyKey({ "idempotency-key": headers["webhook-id"] });
}

interface Delivery {
  args: Record<string, unknown>;
  key: string | undefined;
  /** Hash of everything that must be equal in a repetition. */
  body: string;
}

/** Starts a run or sends an event, depending on the trigger. */
type Receive = (request: FastifyRequest, delivery: Delivery) => Promise<z.infer<typeof Started> | z.infer<typeof Sent>>;

/** Names the header that the sender used as its key in an error about the key. */
const nameKeyHeader = (error: unknown, { headers }: FastifyRequest): unknown =>
  error instanceof ApiError && error.param === "Idempotency-Key" && headers["idempotency-key"] === undefined
    ? new ApiError(error.errorCode, error.message.replaceAll("Idempotency-Key", "webhook-id"), { param: "webhook-id" })
    : error;

function readDelivery(request: FastifyRequest): Delivery {
  const payload = request.bodyBytes === 0 ? {} : request.body;
  return {
    args: mergeArgs(request.trigger.default_args, payload, false),
    key: readKey(request),
    body: request.bodyHash,
  };
}

async function receiveUnsigned(request: FastifyRequest, receive: Receive) {
  try {
    return await receive(request, readDelivery(request));
  } catch (error) {
    throw nameKeyHeader(error, request);
  }
}

/** Receives a signed request. Also answers the challenge with which Slack verifies an address. */
async function receiveSigned(http: Http, request: FastifyRequest, verify: Verification, receive: Receive) {
  const { trigger, headers } = request;
  const signed = {
    headers,
    body: (request.body as Buffer | undefined) ?? Buffer.alloc(0),
    url: http.settings.BASE_URL + request.raw.url!,
  };
  requireSignature(http, trigger, signed);
  const payload = readSignedPayload(signed);
  if (verify.scheme === "slack" && isObject(payload) && payload["type"] === "url_verification")
    return { challenge: payload["challenge"] };
  const id = deliveryId(verify, signed, payload);
  const key = id === undefined ? undefined : createHash("sha256").update(id).digest("hex");
  // Repeated deliveries may contain counters that differ, so the id alone identifies them.
  const body = key === undefined ? request.bodyHash : "";
  return receive(request, { args: mergeArgs(trigger.default_args, payload, true), key, body });
}

/** Sends the event of a trigger that starts no runs. */
function sendEvent(http: Http, awaitDelivery: AwaitDelivery, request: FastifyRequest, { args, key, body }: Delivery) {
  const { trigger, id: request_id } = request;
  const { organization_id, project_id, event } = trigger;
  const principal = `webhook:${trigger.trigger_id}` as const;
  const path = `/api/workflows/hooks/${trigger.trigger_id}`;
  const identity = identifyParts({ organization_id, principal, path, key, body });
  const about = { organization_id, project_id, principal, request_id, identity };
  return postMessage(http, awaitDelivery, { ...about, name: event!, data: args, to: "all" });
}

async function start(http: Http, request: FastifyRequest, { args, key, body }: Delivery) {
  const { trigger } = request;
  const { hook_token } = request.params as { hook_token: string };
  const external_user_id = readExternalUser(request.raw.rawHeaders, http.settings.SERVICE_NAME);
  const workflow = { ...trigger, id: trigger.workflow_id, enabled: trigger.workflow_enabled };
  const run_id = await startRun(http, workflow, {
    request,
    principal: `webhook:${trigger.trigger_id}`,
    path: `/hooks/${trigger.trigger_id}`,
    key,
    body,
    args,
    headers: pickHeaders(request.headers, trigger.headers),
    started_by: { type: "webhook", id: trigger.trigger_id },
    trigger_set_by: findActor(trigger.set_by),
    trigger_id: trigger.trigger_id,
    run_as: trigger.run_as ?? trigger.envelope.run_as,
    external_user_id,
  });
  const status_url = `${http.settings.BASE_URL}/api/workflows/hooks/${hook_token}/runs/${run_id}`;
  return { run_id, status: "pending" as const, status_url };
}

/** The current row of a run that was live, after the wait the caller asked for. If the read model lags, the row is older. */
async function waitAndRead(
  http: Http,
  waitForEnd: WaitForEnd,
  row: RunRow,
  { query }: FastifyRequest,
  reply: FastifyReply,
): Promise<RunRow> {
  const hasEnded = await waitForEnd(row.id, (query as z.infer<typeof WaitQuery>).wait, reply);
  if (!hasEnded) await http.waitUntilCurrent(["runs"], streamName("run", row.id)).catch(() => {});
  return (await getRun(http.db, row.organization_id, row.id)) ?? row;
}

async function describeProgress(http: Http, row: RunRow) {
  const { status, completed_at } = row;
  // the next run is about to start
  if (status === "continued") return { status: "running" as const, result: null, error: null, completed_at: null };
  return {
    status,
    result: await createOpenValue(http, row)(row.result),
    error: row.error?.message ?? null,
    completed_at: completed_at?.toISOString() ?? null,
  };
}

/** Polls the run that a caller started, or the newest run that continues it. */
async function poll(http: Http, waitForEnd: WaitForEnd, request: FastifyRequest, reply: FastifyReply) {
  const { trigger } = request;
  const { run_id } = request.params as { run_id: string };
  const { organization_id } = trigger;
  const found = (await findRun(http, organization_id, run_id)) ?? (await findRunOfChain(http, organization_id, run_id));
  // a fork has its parent's trigger, but a person started it
  if (found?.trigger_id !== trigger.trigger_id || found.started_by.type !== "webhook") throw runNotFound();
  const newest = await findNewestRun(http, found);
  const row = isLive(newest) ? await waitAndRead(http, waitForEnd, newest, request, reply) : newest;
  return {
    run_id: run_id.toLowerCase(),
    ...(await describeProgress(http, row)),
    external_user_id: found.external_user_id,
    created_at: found.created_at.toISOString(),
  };
}

/** Routes that accept a webhook secret: start runs of the trigger and poll them (spec: Workflow API, rules 1 to 3). */
export function hookRoutes(scope: App, http: Http): void {
  // the signature covers the raw bytes, so it is checked before they are parsed
  acceptOpaqueJson(scope, "*", (bytes, { trigger }) => (trigger.verify ? bytes : parseDelivery(bytes)));
  scope.decorateRequest("trigger", null as never);
  const onRequest = requireSecret(http);
  const awaitDelivery = createAwaitDelivery(http);
  const receive: Receive = (request, delivery) =>
    request.trigger.event === null ? start(http, request, delivery) : sendEvent(http, awaitDelivery, request, delivery);
  const baseSchema = { tags: ["Workflows"], security: [{ webhook: [] }] };
  const token = z.object({ hook_token: z.string() });

  const starting = {
    ...baseSchema,
    summary: "Start a run of the hook's workflow, or send its event",
    params: token,
    body: z.record(z.string(), z.unknown()).optional(),
    response: { 202: Receipt, 200: SlackAnswer },
  };
  scope.post(
    "/hooks/:hook_token",
    // a schema would drop fields such as __proto__
    { onRequest: requireSecretOrScheme(http), schema: starting, validatorCompiler: () => (value) => ({ value }) },
    async (request, reply) => {
      const { verify } = request.trigger;
      // Slack shows its users an error for anything but 200.
      void reply.code(verify?.scheme === "slack" ? 200 : 202);
      return verify ? receiveSigned(http, request, verify, receive) : receiveUnsigned(request, receive);
    },
  );

  const polling = {
    ...baseSchema,
    summary: "Poll a run of the hook",
    params: token.extend({ run_id: z.string() }),
    querystring: WaitQuery,
    response: { 200: PolledRun },
  };
  const waitForEnd = createWaitForEnd(http);
  scope.get("/hooks/:hook_token/runs/:run_id", { onRequest, schema: polling }, (request, reply) =>
    poll(http, waitForEnd, request, reply),
  );
}
