import { randomBytes } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { newId, streamOf } from "#events/ids.ts";
import { CreateTrigger, DeleteTrigger, DisableTrigger, RotateTrigger } from "#events/trigger.ts";
import { countEnabled, countRuns, listTriggers, type TriggerRow } from "#projections/triggers/query.ts";
import type { App } from "../app.ts";
import { requireBuilder, requireSession } from "../auth/authenticate.ts";
import { newSecret } from "../auth/secrets.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { commandId, fingerprintOf, idempotencyKey, madeBefore } from "../idempotency.ts";
import { listOf, PageQuery, pageOf } from "../page.ts";
import { writtenAt } from "../send.ts";
import { validator } from "../validate.ts";
import { checkRunAs } from "./envelope.ts";
import { findTrigger, findWorkflow } from "./find.ts";
import { Create, present, Trigger, TRIGGER_CODES, WithSecret } from "./triggerShape.ts";

/** Of one workflow. Requests of the same moment may pass it by a few. */
const MAX_TRIGGERS = 100;
const TOKEN_BYTES = 18;

const sending = ({ caller, id }: FastifyRequest, trigger_id: string) => ({
  stream: streamOf("trigger", trigger_id),
  organization_id: caller.organization_id,
  principal: caller.principal,
  request_id: id,
  waitFor: ["triggers"],
});

/** Id and fingerprint of a POST to a path, such that a repetition of it is known. */
function repeatable(request: FastifyRequest, path: string) {
  const { organization_id, principal } = request.caller;
  const asking = { organization_id, principal, user: undefined, method: "POST", path: `/api/workflows/${path}` };
  return {
    id: commandId(asking, idempotencyKey(request.headers)),
    fingerprint: fingerprintOf(asking, request.bodyHash),
  };
}

async function shown(http: Http, workflow_id: string, rows: TriggerRow[]): Promise<z.infer<typeof Trigger>[]> {
  const ids = rows.map(({ id }) => id);
  const runs = await countRuns(http.db, workflow_id, ids);
  return rows.map((row) => present(row, runs.get(row.id) ?? 0, http.settings.BASE_URL));
}

async function shownOne(http: Http, row: TriggerRow): Promise<z.infer<typeof Trigger>> {
  await http.freshRead(["runs", "workflows"]);
  return (await shown(http, row.workflow_id, [row]))[0]!;
}

async function create(
  http: Http,
  request: FastifyRequest,
  workflow_id: string,
  body: z.infer<typeof Create>,
): Promise<z.infer<typeof WithSecret>> {
  const repetition = repeatable(request, `${workflow_id}/triggers`);
  checkRunAs(request.caller, body.run_as, "run_as");
  await http.freshRead(["triggers"]);
  if ((await countEnabled(http.db, workflow_id)) >= MAX_TRIGGERS)
    throw new ApiError("too_many_triggers", `A workflow has at most ${MAX_TRIGGERS} triggers; delete one of them.`);
  const trigger_id = newId();
  const { secret, hash, hint } = newSecret("whsec", http.settings.SERVICE_NAME);
  const data = {
    trigger_id,
    workflow_id,
    hook_token: randomBytes(TOKEN_BYTES).toString("base64url"),
    secret_hash: hash,
    secret_hint: hint,
    run_as: body.run_as ?? null,
    name: body.name ?? "",
    default_args: JSON.stringify(body.default_args ?? {}),
  };
  const sent = await http.send(CreateTrigger, { ...sending(request, trigger_id), ...repetition, fresh: true, data });
  if (sent.repeated) {
    const { id, fingerprint } = repetition;
    const made = await madeBefore(http.db, request.caller.organization_id, id, fingerprint);
    return shownOne(http, await findTrigger(http, workflow_id, made));
  }
  if (sent.followed) return { ...(await shownOne(http, await findTrigger(http, workflow_id, trigger_id))), secret };
  // the secret cannot be had again, so what was written is answered before it can be read
  const created_at = await writtenAt(http, sent.position);
  const row = { ...data, id: trigger_id, enabled: true, created_at, rotated_at: null, last_used_at: null };
  return { ...present(row, 0, http.settings.BASE_URL), secret };
}

async function rotate(
  http: Http,
  request: FastifyRequest,
  { id: trigger_id, workflow_id }: TriggerRow,
): Promise<z.infer<typeof WithSecret>> {
  const repetition = repeatable(request, `${workflow_id}/triggers/${trigger_id}/rotate`);
  const { secret, hash, hint } = newSecret("whsec", http.settings.SERVICE_NAME);
  const data = { trigger_id, secret_hash: hash, secret_hint: hint };
  const sent = await http.send(RotateTrigger, {
    ...sending(request, trigger_id),
    ...repetition,
    data,
    mustFollow: true,
  });
  const trigger = await shownOne(http, await findTrigger(http, workflow_id, trigger_id));
  return sent.repeated ? trigger : { ...trigger, secret };
}

/** A start that is let in while this is decided may still make a run: that stays, and names a trigger that is gone. */
async function remove(http: Http, request: FastifyRequest, { id: trigger_id, workflow_id }: TriggerRow): Promise<void> {
  await http.freshRead(["workflows"]);
  const { last_used_at } = await findTrigger(http, workflow_id, trigger_id);
  const ending = last_used_at === null ? DeleteTrigger : DisableTrigger;
  await http.send(ending, { ...sending(request, trigger_id), data: { trigger_id }, mustFollow: true });
}

/** Triggers of a workflow (spec: Workflow API): everybody signed in sees them, builders and above manage them. */
export function triggerRoutes(app: App, http: Http): void {
  const reading = requireSession(http);
  const managing = requireBuilder(http);
  const described = { tags: ["Workflows"], security: [{ session: [] }] };
  const all = { ...described, params: z.object({ id: z.string() }) };
  const one = { ...described, params: z.object({ id: z.string(), trigger_id: z.string() }) };
  const find = async ({ caller }: FastifyRequest, params: { id: string; trigger_id: string }) =>
    findTrigger(http, (await findWorkflow(http, caller, params.id)).id, params.trigger_id);

  const listing = { ...all, summary: "List triggers", querystring: PageQuery, response: { 200: listOf(Trigger) } };
  app.get("/:id/triggers", { onRequest: reading, schema: listing }, async ({ caller, params, query }) => {
    const { id } = await findWorkflow(http, caller, params.id);
    const page = pageOf(query);
    await http.freshRead(["triggers", "runs", "workflows"]);
    const { rows, total } = await listTriggers(http.db, id, page);
    return { data: await shown(http, id, rows), total, ...page };
  });

  const creating = { ...all, summary: "Create a trigger", body: Create, response: { 201: WithSecret } };
  app.post(
    "/:id/triggers",
    { onRequest: managing, schema: creating, validatorCompiler: validator(TRIGGER_CODES) },
    async (request, reply) => {
      const { id } = await findWorkflow(http, request.caller, request.params.id);
      return reply.code(201).send(await create(http, request, id, request.body));
    },
  );

  const rotating = { ...one, summary: "Give a trigger a new secret", response: { 200: WithSecret } };
  app.post("/:id/triggers/:trigger_id/rotate", { onRequest: managing, schema: rotating }, async (request) =>
    rotate(http, request, await find(request, request.params)),
  );

  const deleting = { ...one, summary: "Delete a trigger, or disable one that has run", response: { 204: z.null() } };
  app.delete("/:id/triggers/:trigger_id", { onRequest: managing, schema: deleting }, async (request, reply) => {
    await remove(http, request, await find(request, request.params));
    return reply.code(204).send(null);
  });
}
