import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { newId, streamName } from "#events/ids.ts";
import { ChangeWorkflow, RegisterWorkflow } from "#events/workflow.ts";
import { getWorkflowVersion } from "#projections/definitions/query.ts";
import { listWorkflows, countWorkflowUses, type WorkflowRow } from "#projections/workflows/query.ts";
import { listTriggerPeople } from "#projections/triggers/query.ts";
import { requireBuilder, requireSession } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import { commandFields } from "../base/commandFields.ts";
import { checkCount } from "../base/countLimits.ts";
import type { Http } from "../base/deps.ts";
import { requireProject } from "../base/findProject.ts";
import { createOnce, findCreated, identifyPost } from "../base/idempotency.ts";
import { describeList, presentedPage, type Page } from "../base/pageResponse.ts";
import { validator } from "../base/validate.ts";
import { checkCodeChange, checkRunAs, ENVELOPE_CODES, findWarnings, RESET_ENVELOPE } from "./envelope.ts";
import { requireVersion, requireWorkflow } from "./lookups.ts";
import {
  ChangeWorkflowBody,
  presentWorkflow,
  RegisterWorkflowBody,
  Workflow,
  WorkflowWithWarnings,
} from "./workflowShape.ts";

/** The projections that answers about workflows are read from. */
const PROJECTIONS = ["workflows", "definitions", "triggers", "runs"];

const commandFor = (request: FastifyRequest, workflow_id: string) =>
  commandFields(request, streamName("workflow", workflow_id), ["workflows"]);

async function register(
  http: Http,
  request: FastifyRequest,
  body: z.infer<typeof RegisterWorkflowBody>,
): Promise<WorkflowRow> {
  const { caller } = request;
  const identity = identifyPost(request, "/api/workflows");
  const earlier = await findCreated(http, identity);
  if (earlier !== undefined) return requireWorkflow(http, caller, earlier);
  await checkCount(http, caller.organization_id, "workflows");
  await checkCount(http, caller.organization_id, "enabled_workflows");
  const definition = await requireVersion(http, caller, body.definition_id, body.definition_version ?? null);
  checkRunAs(caller, body.envelope?.run_as, "envelope.run_as");
  const workflow_id = newId();
  const data = {
    workflow_id,
    definition_id: body.definition_id.toLowerCase(),
    definition_version: definition.version,
    project_id: await requireProject(http, caller, body.project_id ?? null),
    enabled: true,
    envelope: body.envelope ?? {},
    name: body.name ?? definition.name,
    description: body.description ?? "",
  };
  const command = { ...commandFor(request, workflow_id), ...identity, data, requireProjected: true };
  const { created_id } = await createOnce(http, RegisterWorkflow, command);
  return requireWorkflow(http, caller, created_id);
}

/** Throws 400 `invalid_run_as` if somebody else must choose the code of the workflow's runs. */
async function checkOtherCode(
  http: Http,
  { caller }: FastifyRequest,
  row: WorkflowRow,
  envelope: z.infer<typeof ChangeWorkflowBody>["envelope"],
): Promise<void> {
  await http.waitUntilCurrent(["triggers"]);
  const isKept = envelope === undefined || (envelope !== null && envelope.run_as === undefined);
  const own = isKept ? row.envelope.run_as : envelope?.run_as;
  checkCodeChange(caller, [own, ...(await listTriggerPeople(http.db, row.id))]);
}

/** The fields to change. Null resets a field to its default. */
async function readChanges(
  http: Http,
  request: FastifyRequest,
  row: WorkflowRow,
  body: z.infer<typeof ChangeWorkflowBody>,
) {
  const { name, description, definition_version, project_id, envelope, enabled } = body;
  checkRunAs(request.caller, envelope?.run_as, "envelope.run_as", row.envelope.run_as);
  const enables = enabled !== undefined && enabled !== false;
  if (enables && !row.enabled) await checkCount(http, row.organization_id, "enabled_workflows");
  const requested = definition_version === undefined ? row.definition_version : definition_version;
  const version =
    enables || name === null || definition_version !== undefined
      ? await requireVersion(http, request.caller, row.definition_id, requested)
      : undefined;
  if (version && version.version !== row.definition_version) await checkOtherCode(http, request, row, envelope);
  return {
    name: name === null ? version!.name : name,
    description: description === null ? "" : description,
    // undefined unless sent, because sending the current version could undo a concurrent change
    definition_version: definition_version === undefined ? undefined : version!.version,
    project_id: await requireProject(http, request.caller, project_id),
    envelope: envelope === null ? RESET_ENVELOPE : envelope,
    enabled: enabled === null ? true : enabled,
  };
}

async function change(http: Http, request: FastifyRequest, row: WorkflowRow, changes: object): Promise<WorkflowRow> {
  const data = { workflow_id: row.id, ...changes };
  await http.send(ChangeWorkflow, { ...commandFor(request, row.id), data, requireProjected: true });
  return requireWorkflow(http, request.caller, row.id);
}

async function presentAll(http: Http, rows: WorkflowRow[]): Promise<z.infer<typeof Workflow>[]> {
  const ids = rows.map(({ id }) => id);
  const tallies = await countWorkflowUses(http.db, ids);
  return rows.map((row) => presentWorkflow(row, tallies.get(row.id)!));
}

async function presentOne(http: Http, row: WorkflowRow): Promise<z.infer<typeof WorkflowWithWarnings>> {
  await http.waitUntilCurrent(PROJECTIONS);
  const [workflow] = await presentAll(http, [row]);
  const { organization_id, definition_id, definition_version, envelope } = row;
  const version = await getWorkflowVersion(http.db, organization_id, definition_id, definition_version);
  return { ...workflow!, warnings: findWarnings(version?.meta.secrets ?? [], envelope) };
}

/** Registered workflows (spec: Workflow API): everybody signed in sees them, builders and above manage them. */
export function registrationRoutes(app: App, http: Http): void {
  const reading = requireSession(http);
  const managing = requireBuilder(http);
  const validatorCompiler = validator(ENVELOPE_CODES);
  const baseSchema = { tags: ["Workflows"], security: [{ session: [] }] };
  const itemSchema = { ...baseSchema, params: z.object({ id: z.string() }) };
  const response = { 200: WorkflowWithWarnings };

  const listing = describeList(baseSchema, "List workflows", Workflow);
  app.get("", { onRequest: reading, schema: listing }, async ({ caller, query }) => {
    await http.waitUntilCurrent(PROJECTIONS);
    const read = (page: Page) => listWorkflows(http.db, caller.organization_id, page);
    return presentedPage(query, read, (rows) => presentAll(http, rows));
  });

  const registering = {
    ...baseSchema,
    summary: "Register a workflow",
    body: RegisterWorkflowBody,
    response: { 201: WorkflowWithWarnings },
  };
  app.post("", { onRequest: managing, schema: registering, validatorCompiler }, async (request, reply) =>
    reply.code(201).send(await presentOne(http, await register(http, request, request.body))),
  );

  const readingOne = { ...itemSchema, summary: "Get a workflow", response };
  app.get("/:id", { onRequest: reading, schema: readingOne }, async ({ caller, params }) =>
    presentOne(http, await requireWorkflow(http, caller, params.id)),
  );

  const changing = { ...itemSchema, summary: "Change a workflow", body: ChangeWorkflowBody, response };
  app.patch("/:id", { onRequest: managing, schema: changing, validatorCompiler }, async (request) => {
    const row = await requireWorkflow(http, request.caller, request.params.id);
    return presentOne(http, await change(http, request, row, await readChanges(http, request, row, request.body)));
  });

  const disabling = { ...itemSchema, summary: "Disable a workflow", response: { 204: z.null() } };
  app.delete("/:id", { onRequest: managing, schema: disabling }, async (request, reply) => {
    const row = await requireWorkflow(http, request.caller, request.params.id);
    await change(http, request, row, { enabled: false });
    return reply.code(204).send(null);
  });
}
