import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { streamOf } from "#events/ids.ts";
import { getRun, type RunRow } from "#projections/runs/query.ts";
import type { App } from "../app.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { idempotencyKey } from "../idempotency.ts";
import { isLive } from "./fold.ts";
import { WaitQuery, watchEnds, type WaitForEnd } from "./ends.ts";
import { externalUserOf, requireSecret } from "./hookCaller.ts";
import { isObject, readData } from "./payload.ts";
import { findRun, runNotFound } from "./reach.ts";
import { startRun } from "./start.ts";
import { opener } from "./value.ts";

const Started = z.object({
  run_id: z.string(),
  status: z.literal("pending"),
  status_url: z.string().describe("Where to poll the run, with the same secret."),
});
const Polled = z.object({
  run_id: z.string(),
  status: z.enum(["pending", "running", "completed", "failed", "cancelled"]),
  result: z.unknown(),
  error: z.string().nullable().describe("Why it failed."),
  external_user_id: z.string().nullable(),
  created_at: z.iso.datetime(),
  completed_at: z.iso.datetime().nullable(),
});

/** Senders of webhooks name a delivery by its id, and repeat it under that. */
function keyOf({ headers }: FastifyRequest): string | undefined {
  return idempotencyKey(headers) ?? idempotencyKey({ "idempotency-key": headers["webhook-id"] });
}

/** The trigger's defaults with the caller's payload over them, name by name. Without a payload it is the defaults. */
function argsOf({ body, bodyBytes, trigger }: FastifyRequest): Record<string, unknown> {
  const payload = bodyBytes === 0 ? {} : body;
  if (!isObject(payload)) throw new ApiError("invalid_payload", "The payload must be a JSON object.");
  // both come from JSON: spreading defines every name, `__proto__` as well, and sets none
  return { ...(JSON.parse(trigger.default_args) as object), ...payload };
}

async function start(http: Http, request: FastifyRequest) {
  const { trigger } = request;
  const { hook_token } = request.params as { hook_token: string };
  const external_user_id = externalUserOf(request.raw.rawHeaders, http.settings.SERVICE_NAME);
  const workflow = { ...trigger, id: trigger.workflow_id, enabled: trigger.workflow_enabled };
  const run_id = await startRun(http, workflow, {
    request,
    principal: `webhook:${trigger.trigger_id}`,
    path: `/hooks/${trigger.trigger_id}`,
    key: keyOf(request),
    args: argsOf(request),
    started_by: { type: "webhook", id: trigger.trigger_id },
    trigger_id: trigger.trigger_id,
    run_as: trigger.run_as ?? trigger.envelope.run_as,
    external_user_id,
  });
  const status_url = `${http.settings.BASE_URL}/api/workflows/hooks/${hook_token}/runs/${run_id}`;
  return { run_id, status: "pending" as const, status_url };
}

/** A run that was live as its row says may have ended; while the read model lags, the row is what there is. */
async function anew(http: Http, row: RunRow): Promise<RunRow> {
  await http.freshRead(["runs"], streamOf("run", row.id)).catch(() => {});
  return (await getRun(http.db, row.organization_id, row.id)) ?? row;
}

/** A run that was live, after the wait that the caller asks for. */
async function later(http: Http, waitForEnd: WaitForEnd, row: RunRow, { query }: FastifyRequest, reply: FastifyReply) {
  const ended = await waitForEnd(row.id, (query as z.infer<typeof WaitQuery>).wait, reply);
  return ended ? ((await getRun(http.db, row.organization_id, row.id)) ?? row) : anew(http, row);
}

async function poll(http: Http, waitForEnd: WaitForEnd, request: FastifyRequest, reply: FastifyReply) {
  const { trigger } = request;
  const { run_id } = request.params as { run_id: string };
  const found = await findRun(http, trigger.organization_id, run_id);
  if (found?.trigger_id !== trigger.trigger_id) throw runNotFound();
  const row = isLive(found) ? await later(http, waitForEnd, found, request, reply) : found;
  return {
    run_id: row.id,
    status: row.status,
    result: await opener(http, row)(row.result),
    error: row.error?.message ?? null,
    external_user_id: row.external_user_id,
    created_at: row.created_at.toISOString(),
    completed_at: row.completed_at?.toISOString() ?? null,
  };
}

/** What a webhook secret reaches: to start runs of its own trigger, and to poll those (spec: Workflow API, rules 1 to 3). */
export function hookRoutes(scope: App, http: Http): void {
  readData(scope, "*");
  scope.decorateRequest("trigger", null as never);
  const onRequest = requireSecret(http);
  const described = { tags: ["Workflows"], security: [{ webhook: [] }] };
  const token = z.object({ hook_token: z.string() });

  const starting = {
    ...described,
    summary: "Start a run of the hook's workflow",
    params: token,
    body: z.record(z.string(), z.unknown()).optional(),
    response: { 202: Started },
  };
  scope.post(
    "/hooks/:hook_token",
    // a schema would drop names such as __proto__
    { onRequest, schema: starting, validatorCompiler: () => (value) => ({ value }) },
    async (request, reply) => reply.code(202).send(await start(http, request)),
  );

  const polling = {
    ...described,
    summary: "A run that the hook has started",
    params: token.extend({ run_id: z.string() }),
    querystring: WaitQuery,
    response: { 200: Polled },
  };
  const waitForEnd = watchEnds(http);
  scope.get("/hooks/:hook_token/runs/:run_id", { onRequest, schema: polling }, (request, reply) =>
    poll(http, waitForEnd, request, reply),
  );
}
