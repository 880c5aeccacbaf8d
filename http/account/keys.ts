import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { newId, streamName } from "#events/ids.ts";
import { ChangeKey, CreateKey, DeleteKey, Product, RotateKey } from "#events/key.ts";
import { getKey, listKeys, type KeyRow } from "#projections/keys/query.ts";
import { requireAdmin } from "../auth/authenticate.ts";
import type { Caller } from "../base/caller.ts";
import { newSecret } from "../auth/secrets.ts";
import type { App } from "../base/app.ts";
import { commandFields } from "../base/commandFields.ts";
import { checkCount } from "../base/countLimits.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { findCurrent } from "../base/findById.ts";
import { requireProject } from "../base/findProject.ts";
import { createOnce, findCreated, identifyPost, rotateOnce } from "../base/idempotency.ts";
import { describeList, pageResponse } from "../base/pageResponse.ts";
import { readRecordedAt } from "../base/send.ts";
import { ChangeKeyBody, CreateKeyBody, CreatedKey, Key, presentKey, toUtc, unique } from "./keyShape.ts";

async function requireKey(http: Http, { organization_id }: Caller, id: string): Promise<KeyRow> {
  const row = await findCurrent(http, ["keys"], ["key", id], () => getKey(http.db, organization_id, id));
  if (row) return row;
  throw new ApiError("key_not_found", "No API key has this id.", { param: "id" });
}

const commandFor = (request: FastifyRequest, key_id: string) =>
  commandFields(request, streamName("key", key_id), ["keys"]);

/** The row that the read model will show for a new key. */
const rowFromCommand = (
  { key_id, key_hash: _, expires_at, client_tools = false, ...data }: z.infer<typeof CreateKey.schema>,
  at: Date,
): KeyRow => ({
  ...data,
  id: key_id,
  client_tools,
  expires_at: expires_at === null ? null : new Date(expires_at),
  last_used_at: null,
  created_at: at,
  updated_at: at,
});

async function create(http: Http, request: FastifyRequest, body: z.infer<typeof CreateKeyBody>) {
  const identity = identifyPost(request, "/api/keys");
  const earlier = await findCreated(http, identity);
  if (earlier !== undefined) return presentKey(await requireKey(http, request.caller, earlier));
  await checkCount(http, request.caller.organization_id, "keys");
  const key_id = newId();
  const { secret, hash, hint } = newSecret("sk", http.settings.SERVICE_NAME);
  const data = {
    key_id,
    key_hash: hash,
    key_hint: hint,
    project_id: await requireProject(http, request.caller, body.project_id ?? null),
    name: body.name,
    products: unique(body.products ?? Product.options),
    expires_at: toUtc(body.expires_at),
    enabled: body.enabled ?? true,
    allowed_models: body.allowed_models ?? null,
    client_tools: body.client_tools ?? false,
  };
  const command = { ...commandFor(request, key_id), ...identity, data };
  const { isNew, projected, position, created_id } = await createOnce(http, CreateKey, command);
  if (!isNew) return presentKey(await requireKey(http, request.caller, created_id));
  // The secret cannot be shown again, so the answer does not wait for a lagging read model.
  const row = projected
    ? await requireKey(http, request.caller, key_id)
    : rowFromCommand(data, await readRecordedAt(http, position));
  return { ...presentKey(row), key: secret };
}

async function change(http: Http, request: FastifyRequest, id: string, body: z.infer<typeof ChangeKeyBody>) {
  const { id: key_id } = await requireKey(http, request.caller, id);
  const { expires_at, products, ...rest } = body;
  const data = {
    key_id,
    ...rest,
    ...(products && { products: unique(products) }),
    ...(expires_at !== undefined && { expires_at: toUtc(expires_at) }),
  };
  await http.send(ChangeKey, { ...commandFor(request, key_id), data, requireProjected: true });
  return presentKey(await requireKey(http, request.caller, key_id));
}

/** Gives a key a new secret. The answer to a repeated request leaves the secret out. */
async function rotate(http: Http, request: FastifyRequest, id: string): Promise<z.infer<typeof CreatedKey>> {
  const { id: key_id } = await requireKey(http, request.caller, id);
  const identity = identifyPost(request, `/api/keys/${key_id}/rotate`);
  const { secret, hash, hint } = newSecret("sk", http.settings.SERVICE_NAME);
  const data = { key_id, key_hash: hash, key_hint: hint };
  const isOwn = await rotateOnce(http, RotateKey, { ...commandFor(request, key_id), ...identity, data }, "key_hash");
  const key = presentKey(await requireKey(http, request.caller, key_id));
  return isOwn ? { ...key, key: secret } : key;
}

/** API keys of the organization, for owners and admins. */
export function keyRoutes(app: App, http: Http): void {
  const onRequest = requireAdmin(http);
  const baseSchema = { tags: ["Accounts"], security: [{ session: [] }] };
  const itemSchema = { ...baseSchema, params: z.object({ id: z.string() }) };

  app.get("/keys", { onRequest, schema: describeList(baseSchema, "List API keys", Key) }, async ({ caller, query }) => {
    await http.waitUntilCurrent(["keys"]);
    return pageResponse(query, (page) => listKeys(http.db, caller.organization_id, page), presentKey);
  });

  const reading = { ...itemSchema, summary: "Get an API key, without its secret", response: { 200: Key } };
  app.get("/keys/:id", { onRequest, schema: reading }, async ({ caller, params }) =>
    presentKey(await requireKey(http, caller, params.id)),
  );

  const creating = { ...baseSchema, summary: "Create an API key", body: CreateKeyBody, response: { 201: CreatedKey } };
  app.post("/keys", { onRequest, schema: creating }, async (request, reply) =>
    reply.code(201).send(await create(http, request, request.body)),
  );

  const changing = { ...itemSchema, summary: "Change an API key", body: ChangeKeyBody, response: { 200: Key } };
  app.patch("/keys/:id", { onRequest, schema: changing }, (request) =>
    change(http, request, request.params.id, request.body),
  );

  const rotating = { ...itemSchema, summary: "Give an API key a new secret", response: { 200: CreatedKey } };
  app.post("/keys/:id/rotate", { onRequest, schema: rotating }, (request) => rotate(http, request, request.params.id));

  const deleting = { ...itemSchema, summary: "Delete an API key", response: { 204: z.null() } };
  app.delete("/keys/:id", { onRequest, schema: deleting }, async (request, reply) => {
    const { id: key_id } = await requireKey(http, request.caller, request.params.id);
    await http.send(DeleteKey, { ...commandFor(request, key_id), data: { key_id }, requireProjected: true });
    return reply.code(204).send(null);
  });
}
