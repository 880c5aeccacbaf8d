import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { CreateDefinition, DeleteDefinition, SaveDefinition } from "#events/definition.ts";
import { isUuid, newId, streamOf } from "#events/ids.ts";
import { getDefinition, listDefinitions, listVersions, type DefinitionRow } from "#projections/definitions/query.ts";
import { usesOf } from "#projections/workflows/query.ts";
import { requireBuilder } from "../auth/authenticate.ts";
import type { App } from "../app.ts";
import type { Caller } from "../auth/caller.ts";
import type { Http } from "../deps.ts";
import type { CheckedScript } from "../scripts.ts";
import { BUILT_IN } from "../toolNames.ts";
import { ApiError } from "../errors.ts";
import { commandId, fingerprintOf, idempotencyKey, madeBefore } from "../idempotency.ts";
import { listOf, PageQuery, pageOf } from "../page.ts";
import { notReadable } from "../send.ts";
import { Change, Create, Definition, present, presentVersion, Version, WithSource } from "./definitionShape.ts";
import { checked, keepScript, sourceOf } from "./definitionStore.ts";
import { unique } from "./keyShape.ts";

async function find({ db, freshRead }: Http, { organization_id }: Caller, id: string): Promise<DefinitionRow> {
  if (isUuid(id)) {
    await freshRead(["definitions"], streamOf("definition", id));
    const row = await getDefinition(db, organization_id, id);
    if (row) return row;
  }
  throw new ApiError("definition_not_found", "No definition has this id.", { param: "id" });
}

const envelope = ({ caller, id }: FastifyRequest, definition_id: string) => ({
  stream: streamOf("definition", definition_id),
  organization_id: caller.organization_id,
  principal: caller.principal,
  request_id: id,
  waitFor: ["definitions"],
});

/** The name that the request or the script gives; they may not differ. No tool takes the name of a built-in one. */
function nameOf(type: DefinitionRow["type"], sent: string | undefined, own: string | undefined): string {
  if (sent && own && sent !== own)
    throw new ApiError("invalid_name", `name: the script calls itself ${JSON.stringify(own)}.`, { param: "name" });
  const name = sent ?? own;
  if (!name)
    throw new ApiError("missing_name", "name is required where the script's meta has none.", { param: "name" });
  if (type === "tool" && BUILT_IN.has(name))
    throw new ApiError("invalid_name", `name: ${name} is a built-in tool.`, { param: "name" });
  return name;
}

/** Secrets that the script may have; those that it does not ask for are refused. */
function grantsOf(sent: string[], { meta }: CheckedScript): string[] {
  const grants = unique(sent);
  const unknown = grants.findIndex((name) => !meta.secrets.includes(name));
  if (unknown === -1) return grants;
  const param = `grants[${unknown}]`;
  throw new ApiError("unknown_grant", `${param}: the script does not ask for this secret in meta.secrets.`, { param });
}

const nameClaim = ({ keyring }: Http, organization: string, type: string, name: string): string =>
  keyring.mark("definition", JSON.stringify([organization, type, name]));

async function create(http: Http, request: FastifyRequest, body: z.infer<typeof Create>): Promise<DefinitionRow> {
  const { organization_id, principal } = request.caller;
  const asking = { organization_id, principal, user: undefined, method: "POST", path: "/api/definitions" };
  const id = commandId(asking, idempotencyKey(request.headers));
  const fingerprint = fingerprintOf(asking, request.bodyHash);
  const script = await checked(http, organization_id, body.type, body.source);
  const name = nameOf(body.type, body.name, script.name);
  const definition_id = newId();
  const thing = streamOf("definition", definition_id);
  const wrapped_key = http.keyring.create(thing);
  const kept = await keepScript(http, { organization_id, definition_id, wrapped_key }, body.source, script);
  const data = {
    definition_id,
    type: body.type,
    name,
    name_claim: nameClaim(http, organization_id, body.type, name),
    ...kept,
    meta: script.meta,
    grants: grantsOf(body.grants ?? [], script),
  };
  const sending = { ...envelope(request, definition_id), id, fingerprint, fresh: true, keys: { [thing]: wrapped_key } };
  const sent = await http.send(CreateDefinition, { ...sending, data });
  if (!sent.repeated && !sent.followed) throw notReadable();
  const made = sent.repeated ? await madeBefore(http.db, organization_id, id, fingerprint) : definition_id;
  return find(http, request.caller, made);
}

/** Saves a version: what is not sent stays as it was. */
async function save(http: Http, request: FastifyRequest, row: DefinitionRow, body: z.infer<typeof Change>) {
  const { organization_id } = request.caller;
  const source = body.source ?? (await sourceOf(http, row, row.blob));
  const script = await checked(http, organization_id, row.type, source);
  const named = body.source === undefined ? undefined : script.name;
  const name = nameOf(row.type, body.name ?? named ?? row.name, script.name);
  const { id: definition_id, wrapped_key } = row;
  const kept = await keepScript(http, { organization_id, definition_id, wrapped_key }, source, script);
  const data = {
    definition_id,
    name,
    name_claim: nameClaim(http, organization_id, row.type, name),
    ...kept,
    meta: script.meta,
    // what the script asks for no longer it has no longer
    grants: body.grants
      ? grantsOf(body.grants, script)
      : row.grants.filter((name) => script.meta.secrets.includes(name)),
  };
  await http.send(SaveDefinition, { ...envelope(request, definition_id), data, mustFollow: true });
}

/** The code of a run is the definition's, so it stays while there may be runs of it. Throws 409 `definition_in_use`. */
async function checkUnused({ db, freshRead }: Http, { organization_id }: Caller, { id, name }: DefinitionRow) {
  await freshRead(["workflows", "runs"]);
  const { enabled, live } = await usesOf(db, organization_id, id);
  const refuse = (why: string) => new ApiError("definition_in_use", `${name} ${why}`, { param: "id" });
  if (enabled > 0) throw refuse("is registered as a workflow; disable that first.");
  if (live > 0) throw refuse("has runs that have not ended; wait for them or cancel them first.");
}

/** Scripted tools and workflow definitions (decisions: accounts), for builders and above. */
export function definitionRoutes(app: App, http: Http): void {
  const onRequest = requireBuilder(http);
  const described = { tags: ["Scripts"], security: [{ session: [] }] };
  const one = { ...described, params: z.object({ id: z.string() }) };
  const withSource = async (row: DefinitionRow) => ({ ...present(row), source: await sourceOf(http, row, row.blob) });

  const Query = PageQuery.extend({ type: z.enum(["tool", "workflow"]).optional() });
  const listing = {
    ...described,
    summary: "List definitions",
    querystring: Query,
    response: { 200: listOf(Definition) },
  };
  app.get("/definitions", { onRequest, schema: listing }, async ({ caller, query }) => {
    const page = pageOf(query);
    await http.freshRead(["definitions"]);
    const { rows, total } = await listDefinitions(http.db, caller.organization_id, {
      type: query.type ?? null,
      ...page,
    });
    return { data: rows.map(present), total, ...page };
  });

  const creating = { ...described, summary: "Save a new definition", body: Create, response: { 201: WithSource } };
  app.post("/definitions", { onRequest, schema: creating, bodyLimit: 1024 * 1024 }, async (request, reply) =>
    reply.code(201).send(await withSource(await create(http, request, request.body))),
  );

  const reading = { ...one, summary: "One definition", response: { 200: WithSource } };
  app.get("/definitions/:id", { onRequest, schema: reading }, async ({ caller, params }) =>
    withSource(await find(http, caller, params.id)),
  );

  const saving = { ...one, summary: "Save a new version", body: Change, response: { 200: WithSource } };
  app.patch("/definitions/:id", { onRequest, schema: saving, bodyLimit: 1024 * 1024 }, async (request) => {
    await save(http, request, await find(http, request.caller, request.params.id), request.body);
    return withSource(await find(http, request.caller, request.params.id));
  });

  const deleting = { ...one, summary: "Delete a definition", response: { 204: z.null() } };
  app.delete("/definitions/:id", { onRequest, schema: deleting }, async (request, reply) => {
    const row = await find(http, request.caller, request.params.id);
    const definition_id = row.id;
    if (row.type === "workflow") await checkUnused(http, request.caller, row);
    await http.send(DeleteDefinition, {
      ...envelope(request, definition_id),
      data: { definition_id },
      mustFollow: true,
    });
    return reply.code(204).send(null);
  });

  const versions = { ...one, summary: "Every version of a definition", response: { 200: listOf(Version) } };
  app.get(
    "/definitions/:id/versions",
    { onRequest, schema: { ...versions, querystring: PageQuery } },
    async (request) => {
      const row = await find(http, request.caller, request.params.id);
      const { limit, offset } = pageOf(request.query);
      const rows = await listVersions(http.db, row.id);
      const shown = rows.slice(offset, offset + limit);
      const data = await Promise.all(
        shown.map(async (each) => presentVersion(each, await sourceOf(http, row, each.blob))),
      );
      return { data, total: rows.length, limit, offset };
    },
  );
}
