import { randomBytes } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { newId } from "#events/ids.ts";
import { CreateTrigger, DeleteTrigger, DisableTrigger } from "#events/trigger.ts";
import { countTriggers, listTriggers, type TriggerRow } from "#projections/triggers/query.ts";
import type { WorkflowRow } from "#projections/workflows/query.ts";
import { requireBuilder, requireSession } from "../auth/authenticate.ts";
import { newSecret } from "../auth/secrets.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { createOnce, findCreated, identifyPost, type IdempotentRequest } from "../base/idempotency.ts";
import { describeList, presentedPage } from "../base/pageResponse.ts";
import { readRecordedAt } from "../base/send.ts";
import { validator } from "../base/validate.ts";
import { loadArgsSchema, partialSchema } from "./argsSchema.ts";
import { checkRunAs } from "./envelope.ts";
import { requireTrigger, requireWorkflow } from "./lookups.ts";
import { presentTriggers, readTrigger } from "./presentTriggers.ts";
import { rotateTrigger, sealSigning, triggerCommand } from "./rotateTrigger.ts";
import { ChangeTrigger } from "./scheduleShape.ts";
import { changeSchedule, createSchedule } from "./schedules.ts";
import {
  CreateTriggerBody,
  presentTrigger,
  RotateTriggerBody,
  Trigger,
  TRIGGER_CODES,
  TriggerWithSecret,
} from "./triggerShape.ts";
import { violationMessage } from "#events/violationMessage.ts";

/** Maximum enabled triggers per workflow. Concurrent requests may exceed it by a few. */
const MAX_TRIGGERS = 100;
/** Disabled ones too, which stay because runs refer to them. */
const MAX_ALL_TRIGGERS = 10_000;
/** 144 random bits: a hook's URL cannot be guessed. */
const TOKEN_BYTES = 18;

async function checkCount(http: Http, workflow_id: string): Promise<void> {
  await http.waitUntilCurrent(["triggers"]);
  const { enabled, total } = await countTriggers(http.db, workflow_id);
  if (enabled >= MAX_TRIGGERS)
    throw new ApiError("too_many_triggers", `A workflow has at most ${MAX_TRIGGERS} triggers; delete one of them.`);
  if (total >= MAX_ALL_TRIGGERS)
    throw new ApiError(
      "too_many_triggers",
      `The workflow has ${MAX_ALL_TRIGGERS.toLocaleString("en")} triggers, the maximum; register its definition as another workflow.`,
    );
}

/** Checks default arguments. Required fields may be missing, since callers can send them. Throws 400 `invalid_default_args`. */
async function checkDefaults(http: Http, workflow: WorkflowRow, defaults: Record<string, unknown>): Promise<void> {
  if (Object.keys(defaults).length === 0) return;
  const schema = partialSchema(await loadArgsSchema(http, workflow));
  const violation = await http.schemas.check(workflow.organization_id, schema, defaults);
  if (!violation) return;
  const message = violationMessage(`default_args${violation.pointer}`, violation);
  throw new ApiError("invalid_default_args", message, { param: `/default_args${violation.pointer}` });
}

async function createWebhook(
  http: Http,
  request: FastifyRequest,
  workflow: WorkflowRow,
  identity: IdempotentRequest,
  body: z.infer<typeof CreateTriggerBody>,
): Promise<z.infer<typeof TriggerWithSecret>> {
  const workflow_id = workflow.id;
  checkRunAs(request.caller, body.run_as, "run_as");
  const event = body.event ?? null;
  if (event === null) await checkDefaults(http, workflow, body.default_args ?? {});
  const trigger_id = newId();
  const { secret, hash, hint } = newSecret("whsec", http.settings.SERVICE_NAME);
  const { secret: signing_secret, ...verify } = body.verify ?? { secret: undefined };
  const signing =
    signing_secret === undefined ? {} : { signing: sealSigning(http, request, trigger_id, signing_secret) };
  const data = {
    trigger_id,
    workflow_id,
    hook_token: randomBytes(TOKEN_BYTES).toString("base64url"),
    secret_hash: hash,
    secret_hint: hint,
    run_as: body.run_as ?? null,
    name: body.name ?? "",
    default_args: JSON.stringify(body.default_args ?? {}),
    verify: "scheme" in verify ? verify : null,
    headers: [...new Set(body.headers)],
  };
  const command = {
    ...triggerCommand(request, trigger_id),
    ...identity,
    data: { ...data, ...signing, ...(event !== null && { event }) },
  };
  const { isNew, position, created_id } = await createOnce(http, CreateTrigger, command);
  if (!isNew) return readTrigger(http, workflow_id, created_id);
  // The secret cannot be shown again, so the answer does not wait for the read model, which may lag.
  const created_at = await readRecordedAt(http, position);
  const unused = { enabled: true, rotated_at: null, last_used_at: null, set_by: request.caller.principal };
  const row = { ...data, ...unused, event, id: trigger_id, created_at };
  return { ...presentTrigger(row, { runs: 0, base: http.settings.BASE_URL, schedule: undefined }), secret };
}

async function create(
  http: Http,
  request: FastifyRequest,
  workflow: WorkflowRow,
  body: z.infer<typeof CreateTriggerBody>,
): Promise<z.infer<typeof TriggerWithSecret>> {
  const identity = identifyPost(request, `/api/workflows/${workflow.id}/triggers`);
  const earlier = await findCreated(http, identity);
  if (earlier !== undefined) return readTrigger(http, workflow.id, earlier);
  await checkCount(http, workflow.id);
  const { schedule } = body;
  if (!schedule) return createWebhook(http, request, workflow, identity, body);
  const id = await createSchedule(http, request, workflow, { ...body, schedule, identity });
  return readTrigger(http, workflow.id, id);
}

/**
 * Deletes a trigger that never started a run. Disables any other, because its runs refer to it. A concurrent request may still
 * start a run, which then refers to a deleted trigger.
 */
async function remove(http: Http, request: FastifyRequest, { id: trigger_id, workflow_id }: TriggerRow): Promise<void> {
  await http.waitUntilCurrent(["workflows"]);
  const { last_used_at } = await requireTrigger(http, workflow_id, trigger_id);
  const definition = last_used_at === null ? DeleteTrigger : DisableTrigger;
  await http.send(definition, { ...triggerCommand(request, trigger_id), data: { trigger_id }, requireProjected: true });
}

const validatorCompiler = validator(TRIGGER_CODES);
const BASE_SCHEMA = { tags: ["Workflows"], security: [{ session: [] }] };

function changeTriggerRoutes(app: App, http: Http): void {
  const managing = requireBuilder(http);
  const itemSchema = { ...BASE_SCHEMA, params: z.object({ id: z.string(), trigger_id: z.string() }) };
  const find = async ({ caller }: FastifyRequest, params: { id: string; trigger_id: string }) =>
    requireTrigger(http, (await requireWorkflow(http, caller, params.id)).id, params.trigger_id);

  const rotating = {
    ...itemSchema,
    summary: "Give a trigger a new secret",
    body: RotateTriggerBody,
    response: { 200: TriggerWithSecret },
  };
  app.post(
    "/:id/triggers/:trigger_id/rotate",
    { onRequest: managing, schema: rotating, validatorCompiler },
    async (request) => rotateTrigger(http, request, await find(request, request.params), request.body),
  );

  const changing = {
    ...itemSchema,
    summary: "Change, pause or resume a schedule",
    body: ChangeTrigger,
    response: { 200: Trigger },
  };
  app.patch(
    "/:id/triggers/:trigger_id",
    { onRequest: managing, schema: changing, validatorCompiler },
    async (request) => {
      const workflow = await requireWorkflow(http, request.caller, request.params.id);
      const trigger = await requireTrigger(http, workflow.id, request.params.trigger_id);
      await changeSchedule(http, request, { workflow, trigger }, request.body);
      return readTrigger(http, workflow.id, trigger.id);
    },
  );

  const deleting = {
    ...itemSchema,
    summary: "Delete a trigger, or disable one that has runs",
    response: { 204: z.null() },
  };
  app.delete("/:id/triggers/:trigger_id", { onRequest: managing, schema: deleting }, async (request, reply) => {
    await remove(http, request, await find(request, request.params));
    return reply.code(204).send(null);
  });
}

/** Triggers of a workflow (spec: Workflow API): everybody signed in sees them, builders and above manage them. */
export function triggerRoutes(app: App, http: Http): void {
  const all = { ...BASE_SCHEMA, params: z.object({ id: z.string() }) };

  const listing = describeList(all, "List triggers", Trigger);
  app.get("/:id/triggers", { onRequest: requireSession(http), schema: listing }, async ({ caller, params, query }) => {
    const { id } = await requireWorkflow(http, caller, params.id);
    await http.waitUntilCurrent(["triggers"]);
    return presentedPage(
      query,
      (page) => listTriggers(http.db, id, page),
      (rows) => presentTriggers(http, rows),
    );
  });

  const creating = {
    ...all,
    summary: "Create a trigger",
    body: CreateTriggerBody,
    response: { 201: TriggerWithSecret },
  };
  app.post(
    "/:id/triggers",
    { onRequest: requireBuilder(http), schema: creating, validatorCompiler },
    async (request, reply) => {
      const workflow = await requireWorkflow(http, request.caller, request.params.id);
      return reply.code(201).send(await create(http, request, workflow, request.body));
    },
  );

  changeTriggerRoutes(app, http);
}
