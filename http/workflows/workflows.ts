import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { newId, streamOf } from "#events/ids.ts";
import { ChangeWorkflow, RegisterWorkflow } from "#events/workflow.ts";
import { getWorkflowVersion } from "#projections/definitions/query.ts";
import { listWorkflows, tallyWorkflows, type WorkflowRow } from "#projections/workflows/query.ts";
import type { App } from "../app.ts";
import { requireBuilder, requireSession } from "../auth/authenticate.ts";
import type { Http } from "../deps.ts";
import { commandId, fingerprintOf, idempotencyKey, madeBefore } from "../idempotency.ts";
import { listOf, PageQuery, pageOf } from "../page.ts";
import { projectOf } from "../project.ts";
import { notReadable } from "../send.ts";
import { validator } from "../validate.ts";
import { ALL_DEFAULTS, checkRunAs, ENVELOPE_CODES, warningsOf } from "./envelope.ts";
import { findVersion, findWorkflow } from "./find.ts";
import { Change, present, Register, Warned, Workflow } from "./workflowShape.ts";

/** What an answer about workflows is read from. */
const READ = ["workflows", "definitions", "triggers", "runs"];

const sending = ({ caller, id }: FastifyRequest, workflow_id: string) => ({
  stream: streamOf("workflow", workflow_id),
  organization_id: caller.organization_id,
  principal: caller.principal,
  request_id: id,
  waitFor: ["workflows"],
});

async function register(http: Http, request: FastifyRequest, body: z.infer<typeof Register>): Promise<WorkflowRow> {
  const { organization_id, principal } = request.caller;
  const asking = { organization_id, principal, user: undefined, method: "POST", path: "/api/workflows" };
  const id = commandId(asking, idempotencyKey(request.headers));
  const fingerprint = fingerprintOf(asking, request.bodyHash);
  const { name, version } = await findVersion(
    http,
    request.caller,
    body.definition_id,
    body.definition_version ?? null,
  );
  checkRunAs(request.caller, body.envelope?.run_as, "envelope.run_as");
  const workflow_id = newId();
  const data = {
    workflow_id,
    definition_id: body.definition_id.toLowerCase(),
    definition_version: version,
    project_id: await projectOf(http, request.caller, body.project_id ?? null),
    enabled: true,
    envelope: body.envelope ?? {},
    name: body.name ?? name,
    description: body.description ?? "",
  };
  const asked = { ...sending(request, workflow_id), id, fingerprint, fresh: true, data };
  const sent = await http.send(RegisterWorkflow, asked);
  if (!sent.repeated && !sent.followed) throw notReadable();
  const made = sent.repeated ? await madeBefore(http.db, organization_id, id, fingerprint) : workflow_id;
  return findWorkflow(http, request.caller, made);
}

/** The fields that are asked for, with what null stands for. */
async function changesOf(http: Http, request: FastifyRequest, row: WorkflowRow, body: z.infer<typeof Change>) {
  const { name, description, definition_version, project_id, envelope, enabled } = body;
  checkRunAs(request.caller, envelope?.run_as, "envelope.run_as", row.envelope.run_as);
  const enables = enabled !== undefined && enabled !== false;
  const asked = definition_version === undefined ? row.definition_version : definition_version;
  const version =
    enables || name === null || definition_version !== undefined
      ? await findVersion(http, request.caller, row.definition_id, asked)
      : undefined;
  return {
    name: name === null ? version!.name : name,
    description: description === null ? "" : description,
    // asked for alone: what is only looked at must not undo a change of the same moment
    definition_version: definition_version === undefined ? undefined : version!.version,
    project_id: await projectOf(http, request.caller, project_id),
    envelope: envelope === null ? ALL_DEFAULTS : envelope,
    enabled: enabled === null ? true : enabled,
  };
}

async function change(http: Http, request: FastifyRequest, row: WorkflowRow, asked: object): Promise<WorkflowRow> {
  const data = { workflow_id: row.id, ...asked };
  await http.send(ChangeWorkflow, { ...sending(request, row.id), data, mustFollow: true });
  return findWorkflow(http, request.caller, row.id);
}

async function shown(http: Http, rows: WorkflowRow[]): Promise<z.infer<typeof Workflow>[]> {
  const tallies = await tallyWorkflows(
    http.db,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => present(row, tallies.get(row.id)!));
}

async function shownOne(http: Http, row: WorkflowRow): Promise<z.infer<typeof Warned>> {
  await http.freshRead(READ);
  const [workflow] = await shown(http, [row]);
  const { organization_id, definition_id, definition_version, envelope } = row;
  const version = await getWorkflowVersion(http.db, organization_id, definition_id, definition_version);
  return { ...workflow!, warnings: warningsOf(version?.meta.secrets ?? [], envelope) };
}

/** Registered workflows (spec: Workflow API): everybody signed in sees them, builders and above manage them. */
export function registeredRoutes(app: App, http: Http): void {
  const reading = requireSession(http);
  const managing = requireBuilder(http);
  const validatorCompiler = validator(ENVELOPE_CODES);
  const described = { tags: ["Workflows"], security: [{ session: [] }] };
  const one = { ...described, params: z.object({ id: z.string() }) };

  const listing = {
    ...described,
    summary: "List workflows",
    querystring: PageQuery,
    response: { 200: listOf(Workflow) },
  };
  app.get("", { onRequest: reading, schema: listing }, async ({ caller, query }) => {
    const page = pageOf(query);
    await http.freshRead(READ);
    const { rows, total } = await listWorkflows(http.db, caller.organization_id, page);
    return { data: await shown(http, rows), total, ...page };
  });

  const registering = { ...described, summary: "Register a workflow", body: Register, response: { 201: Warned } };
  app.post("", { onRequest: managing, schema: registering, validatorCompiler }, async (request, reply) =>
    reply.code(201).send(await shownOne(http, await register(http, request, request.body))),
  );

  const readingOne = { ...one, summary: "One workflow", response: { 200: Warned } };
  app.get("/:id", { onRequest: reading, schema: readingOne }, async ({ caller, params }) =>
    shownOne(http, await findWorkflow(http, caller, params.id)),
  );

  const changing = { ...one, summary: "Change a workflow", body: Change, response: { 200: Warned } };
  app.patch("/:id", { onRequest: managing, schema: changing, validatorCompiler }, async (request) => {
    const row = await findWorkflow(http, request.caller, request.params.id);
    return shownOne(http, await change(http, request, row, await changesOf(http, request, row, request.body)));
  });

  const disabling = { ...one, summary: "Disable a workflow", response: { 204: z.null() } };
  app.delete("/:id", { onRequest: managing, schema: disabling }, async (request, reply) => {
    const row = await findWorkflow(http, request.caller, request.params.id);
    await change(http, request, row, { enabled: false });
    return reply.code(204).send(null);
  });
}
