import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { CreateDefinition, DeleteDefinition, SaveDefinition } from "#events/definition.ts";
import { newId, streamName } from "#events/ids.ts";
import { listAgentsWithTool } from "#projections/agents/query.ts";
import { getDefinition, listDefinitions, listVersions, type DefinitionRow } from "#projections/definitions/query.ts";
import { countDefinitionUses, listPinnedWorkflows } from "#projections/workflows/query.ts";
import { requireBuilder } from "../auth/authenticate.ts";
import type { Caller } from "../base/caller.ts";
import type { App } from "../base/app.ts";
import { commandFields } from "../base/commandFields.ts";
import { checkCount } from "../base/countLimits.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { findCurrent } from "../base/findById.ts";
import { createOnce, findCreated, identifyPost } from "../base/idempotency.ts";
import { describeList, pageResponse, type Page } from "../base/pageResponse.ts";
import { PageQuery } from "../base/pagination.ts";
import type { CheckedScript } from "../base/scriptChecker.ts";
import { describeAccess } from "./definitionAccess.ts";
import { checkScript, readSource, storeScript } from "./definitionScript.ts";
import {
  ChangeDefinitionBody,
  CreateDefinitionBody,
  Definition,
  pinNotice,
  presentDefinition,
  SavedDefinition,
  DefinitionVersion,
  DefinitionWithSource,
} from "./definitionShape.ts";
import { checkGrants, chooseName, filterGrants } from "./definitionRules.ts";
import { readVersionPage } from "./definitionVersions.ts";

/** Enough for a source of 256 KiB with every character escaped in JSON, and the other fields. */
export const bodyLimit = 1024 * 1024;

/** Throws 404 `definition_not_found`. */
export async function requireDefinition(http: Http, { organization_id }: Caller, id: string): Promise<DefinitionRow> {
  const find = () => getDefinition(http.db, organization_id, id);
  const row = await findCurrent(http, ["definitions"], ["definition", id], find);
  if (row) return row;
  throw new ApiError("definition_not_found", "No definition has this id.", { param: "id" });
}

const commandFor = (request: FastifyRequest, definition_id: string) =>
  commandFields(request, streamName("definition", definition_id), ["definitions"]);

const nameClaim = ({ keyring }: Http, organization: string, type: string, name: string): string =>
  keyring.keyedHash("definition", JSON.stringify([organization, type, name]));

interface Save {
  definition_id: string;
  wrapped_key: string;
  type: DefinitionRow["type"];
  name: string;
  grants: string[];
  source: string;
  script: CheckedScript;
}

/** Stores the script and returns the fields for its event. */
async function storeVersion(http: Http, organization_id: string, save: Save) {
  const { definition_id, wrapped_key, type, name, grants, source, script } = save;
  const stored = await storeScript(http, { organization_id, definition_id, wrapped_key }, source, script);
  const name_claim = nameClaim(http, organization_id, type, name);
  return { definition_id, name, name_claim, ...stored, meta: script.meta, grants };
}

async function create(
  http: Http,
  request: FastifyRequest,
  body: z.infer<typeof CreateDefinitionBody>,
): Promise<DefinitionRow> {
  const { organization_id } = request.caller;
  const identity = identifyPost(request, "/api/definitions");
  const earlier = await findCreated(http, identity);
  if (earlier !== undefined) return requireDefinition(http, request.caller, earlier);
  await checkCount(http, organization_id, "definitions");
  const { type, source } = body;
  const script = await checkScript(http, organization_id, type, source);
  const name = chooseName(type, body.name, script.name);
  const grants = checkGrants(body.grants ?? [], script);
  const definition_id = newId();
  const thing = streamName("definition", definition_id);
  const wrapped_key = http.vault.createKey(thing);
  const save = { definition_id, wrapped_key, type, name, grants, source, script };
  const { created_id } = await createOnce(http, CreateDefinition, {
    ...commandFor(request, definition_id),
    ...identity,
    keys: { [thing]: wrapped_key },
    data: { type, ...(await storeVersion(http, organization_id, save)) },
    requireProjected: true,
  });
  return requireDefinition(http, request.caller, created_id);
}

/** Saves a new version. Fields that are not sent keep their value. */
async function save(
  http: Http,
  request: FastifyRequest,
  row: DefinitionRow,
  body: z.infer<typeof ChangeDefinitionBody>,
) {
  const { organization_id } = request.caller;
  const { id: definition_id, wrapped_key, type } = row;
  const source = body.source ?? (await readSource(http, row, row.blob));
  const script = await checkScript(http, organization_id, type, source);
  const scriptName = body.source === undefined ? undefined : script.name;
  const name = chooseName(type, body.name ?? scriptName ?? row.name, script.name);
  if (type === "tool" && name !== row.name) await checkNotOfAgents(http, request.caller, row.name);
  const grants = body.grants ? checkGrants(body.grants, script) : filterGrants(row.grants, script);
  const version = { definition_id, wrapped_key, type, name, grants, source, script };
  const data = await storeVersion(http, organization_id, version);
  await http.send(SaveDefinition, { ...commandFor(request, definition_id), data, requireProjected: true });
}

async function describePins(
  { db, waitUntilCurrent }: Http,
  { organization_id }: Caller,
  { id, version, type }: DefinitionRow,
) {
  if (type === "tool") return { pinned_workflows: [], notice: null };
  await waitUntilCurrent(["workflows"]);
  const pinned_workflows = await listPinnedWorkflows(db, organization_id, id);
  return { pinned_workflows, notice: pinNotice(version, pinned_workflows.length) };
}

/** A definition cannot be deleted while it may have runs, because they execute its code. Throws 409 `definition_in_use`. */
async function checkUnused({ db, waitUntilCurrent }: Http, { organization_id }: Caller, { id, name }: DefinitionRow) {
  await waitUntilCurrent(["workflows", "runs"]);
  const { enabled, live } = await countDefinitionUses(db, organization_id, id);
  const refuse = (why: string) => new ApiError("definition_in_use", `${name} ${why}`, { param: "id" });
  if (enabled > 0) throw refuse("is registered as a workflow; disable that first.");
  if (live > 0) throw refuse("has runs that have not ended; wait for them or cancel them first.");
}

/** A tool cannot be deleted while agents name it. Throws 409 `definition_in_use`, which lists the agents. */
async function checkNotOfAgents(
  { db, waitUntilCurrent }: Http,
  { organization_id }: Caller,
  name: string,
): Promise<void> {
  await waitUntilCurrent(["agents"]);
  const agents = await listAgentsWithTool(db, organization_id, name);
  if (agents.length === 0) return;
  const shown = agents
    .slice(0, 5)
    .map((agent) => JSON.stringify(agent))
    .join(", ");
  const more = agents.length > 5 ? ` and ${agents.length - 5} more` : "";
  const message = `The tool ${name} is used by ${agents.length === 1 ? "the agent" : "the agents"} ${shown}${more}; remove it there first.`;
  throw new ApiError("definition_in_use", message, { param: "id" });
}

async function remove(http: Http, request: FastifyRequest, id: string): Promise<void> {
  const row = await requireDefinition(http, request.caller, id);
  if (row.type === "workflow") await checkUnused(http, request.caller, row);
  else await checkNotOfAgents(http, request.caller, row.name);
  const data = { definition_id: row.id };
  await http.send(DeleteDefinition, { ...commandFor(request, row.id), data, requireProjected: true });
}

async function readVersions(http: Http, request: FastifyRequest, id: string, query: z.infer<typeof PageQuery>) {
  const definition = await requireDefinition(http, request.caller, id);
  await request.acquireLongRead();
  const read = async (page: Page) =>
    readVersionPage(http, definition, await listVersions(http.db, definition.id, page));
  return pageResponse(query, read, (version) => version);
}

const presentWithSource = async (http: Http, { organization_id }: Caller, row: DefinitionRow) => ({
  ...presentDefinition(row),
  source: await readSource(http, row, row.blob),
  access: await describeAccess(http, organization_id, row),
});

const BASE_SCHEMA = { tags: ["Scripts"], security: [{ session: [] }] };
const ONE = { ...BASE_SCHEMA, params: z.object({ id: z.string() }) };

function definitionVersionRoutes(app: App, http: Http): void {
  const versions = describeList(ONE, "List the versions of a definition", DefinitionVersion);
  app.get("/definitions/:id/versions", { onRequest: requireBuilder(http), schema: versions }, (request) =>
    readVersions(http, request, request.params.id, request.query),
  );
}

/** Scripted tools and workflow definitions, for builders and above. */
export function definitionRoutes(app: App, http: Http): void {
  const onRequest = requireBuilder(http);

  const Query = PageQuery.extend({ type: z.enum(["tool", "workflow"]).optional() });
  const listing = { ...describeList(BASE_SCHEMA, "List definitions", Definition), querystring: Query };
  app.get("/definitions", { onRequest, schema: listing }, async ({ caller, query }) => {
    await http.waitUntilCurrent(["definitions"]);
    const type = query.type ?? null;
    return pageResponse(
      query,
      (page) => listDefinitions(http.db, caller.organization_id, { type, ...page }),
      presentDefinition,
    );
  });

  const creating = {
    ...BASE_SCHEMA,
    summary: "Create a definition",
    body: CreateDefinitionBody,
    response: { 201: DefinitionWithSource },
  };
  app.post("/definitions", { onRequest, schema: creating, bodyLimit }, async (request, reply) =>
    reply.code(201).send(await presentWithSource(http, request.caller, await create(http, request, request.body))),
  );

  const reading = {
    ...ONE,
    summary: "Get a definition",
    description: "With its source, the secrets that the code may read, and who may read its results.",
    response: { 200: DefinitionWithSource },
  };
  app.get("/definitions/:id", { onRequest, schema: reading }, async ({ caller, params }) =>
    presentWithSource(http, caller, await requireDefinition(http, caller, params.id)),
  );

  const saving = {
    ...ONE,
    summary: "Save a new version",
    body: ChangeDefinitionBody,
    response: { 200: SavedDefinition },
  };
  app.patch("/definitions/:id", { onRequest, schema: saving, bodyLimit }, async (request) => {
    await save(http, request, await requireDefinition(http, request.caller, request.params.id), request.body);
    const saved = await requireDefinition(http, request.caller, request.params.id);
    return {
      ...(await presentWithSource(http, request.caller, saved)),
      ...(await describePins(http, request.caller, saved)),
    };
  });

  const deleting = { ...ONE, summary: "Delete a definition", response: { 204: z.null() } };
  app.delete("/definitions/:id", { onRequest, schema: deleting }, async (request, reply) => {
    await remove(http, request, request.params.id);
    return reply.code(204).send(null);
  });

  definitionVersionRoutes(app, http);
}
