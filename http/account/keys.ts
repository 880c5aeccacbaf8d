import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { isUuid, newId, streamOf } from "#events/ids.ts";
import { ChangeKey, CreateKey, DeleteKey, Product } from "#events/key.ts";
import { getKey, listKeys, type KeyRow } from "#projections/keys/query.ts";
import { requireAdmin } from "../auth/authenticate.ts";
import type { Caller } from "../auth/caller.ts";
import { newSecret } from "../auth/secrets.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { commandId, fingerprintOf, idempotencyKey, madeBefore } from "../idempotency.ts";
import { listOf, PageQuery, pageOf } from "../page.ts";
import { projectOf } from "../project.ts";
import { writtenAt } from "../send.ts";
import type { App } from "../app.ts";
import { Change, Create, Created, Key, present, unique, utc } from "./keyShape.ts";

async function find({ db, freshRead }: Http, { organization_id }: Caller, id: string): Promise<KeyRow> {
  if (isUuid(id)) {
    await freshRead(["keys"], streamOf("key", id));
    const row = await getKey(db, organization_id, id);
    if (row) return row;
  }
  throw new ApiError("key_not_found", "No API key has this id.", { param: "id" });
}

/** What every command to a key's stream says; its caller reads the keys next. */
const envelope = ({ caller, id }: FastifyRequest, key_id: string) => ({
  stream: streamOf("key", key_id),
  organization_id: caller.organization_id,
  principal: caller.principal,
  request_id: id,
  waitFor: ["keys"],
});

/** A key as its read model will show it. */
const asWritten = (
  { key_id, key_hash: _, expires_at, ...data }: z.infer<typeof CreateKey.schema>,
  at: Date,
): KeyRow => ({
  ...data,
  id: key_id,
  expires_at: expires_at === null ? null : new Date(expires_at),
  last_used_at: null,
  created_at: at,
  updated_at: at,
});

async function create(
  http: Http,
  request: FastifyRequest,
  body: z.infer<typeof Create>,
): Promise<z.infer<typeof Created>> {
  const { organization_id, principal } = request.caller;
  const asking = { organization_id, principal, user: undefined, method: "POST", path: "/api/keys" };
  const sentKey = idempotencyKey(request.headers);
  const id = commandId(asking, sentKey);
  const key_id = newId();
  const { secret, hash, hint } = newSecret("sk", http.settings.SERVICE_NAME);
  const data = {
    key_id,
    key_hash: hash,
    key_hint: hint,
    project_id: await projectOf(http, request.caller, body.project_id ?? null),
    name: body.name,
    products: unique(body.products ?? Product.options),
    expires_at: utc(body.expires_at),
    enabled: body.enabled ?? true,
    allowed_models: body.allowed_models ?? null,
  };
  const fingerprint = fingerprintOf(asking, request.bodyHash);
  const sent = await http.send(CreateKey, { ...envelope(request, key_id), id, fingerprint, fresh: true, data });
  if (sent.repeated) {
    const made = await madeBefore(http.db, organization_id, id, fingerprint);
    return present(await find(http, request.caller, made));
  }
  const row = sent.followed
    ? await find(http, request.caller, key_id)
    : asWritten(data, await writtenAt(http, sent.position));
  return { ...present(row), key: secret };
}

async function change(
  http: Http,
  request: FastifyRequest,
  id: string,
  body: z.infer<typeof Change>,
): Promise<z.infer<typeof Key>> {
  const { id: key_id } = await find(http, request.caller, id);
  const { expires_at, products, ...rest } = body;
  const data = {
    key_id,
    ...rest,
    ...(products && { products: unique(products) }),
    ...(expires_at !== undefined && { expires_at: utc(expires_at) }),
  };
  await http.send(ChangeKey, { ...envelope(request, key_id), data, mustFollow: true });
  return present(await find(http, request.caller, key_id));
}

/** API keys of the organization (decisions: accounts), for owners and admins. */
export function keyRoutes(app: App, http: Http): void {
  const onRequest = requireAdmin(http);
  const described = { tags: ["Accounts"], security: [{ session: [] }] };
  const one = { ...described, params: z.object({ id: z.string() }) };

  const listing = { ...described, summary: "List API keys", querystring: PageQuery, response: { 200: listOf(Key) } };
  app.get("/keys", { onRequest, schema: listing }, async ({ caller, query }) => {
    const page = pageOf(query);
    await http.freshRead(["keys"]);
    const { rows, total } = await listKeys(http.db, caller.organization_id, page);
    return { data: rows.map(present), total, ...page };
  });

  const creating = { ...described, summary: "Create an API key", body: Create, response: { 201: Created } };
  app.post("/keys", { onRequest, schema: creating }, async (request, reply) =>
    reply.code(201).send(await create(http, request, request.body)),
  );

  const changing = { ...one, summary: "Change an API key", body: Change, response: { 200: Key } };
  app.patch("/keys/:id", { onRequest, schema: changing }, (request) =>
    change(http, request, request.params.id, request.body),
  );

  const deleting = { ...one, summary: "Delete an API key", response: { 204: z.null() } };
  app.delete("/keys/:id", { onRequest, schema: deleting }, async (request, reply) => {
    const { id: key_id } = await find(http, request.caller, request.params.id);
    await http.send(DeleteKey, { ...envelope(request, key_id), data: { key_id }, mustFollow: true });
    return reply.code(204).send(null);
  });
}
