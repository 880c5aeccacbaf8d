import { z } from "zod";
import { idFrom, isUuid, newId, streamOf } from "#events/ids.ts";
import { ChangeKey, CreateKey, DeleteKey, Product } from "#events/key.ts";
import { getKey, listKeys, type KeyRow } from "#projections/keys/query.ts";
import { requireAdmin } from "../auth/authenticate.ts";
import { newSecret } from "../auth/secrets.ts";
import type { Caller } from "../auth/caller.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { commandId, fingerprintOf, idempotencyKey } from "../idempotency.ts";
import { listOf, PageQuery, pageOf } from "../page.ts";
import type { App } from "../server.ts";

const name = z.string().trim().min(1).max(200);
const settings = {
  products: z.array(Product).max(10),
  expires_at: z.iso.datetime({ offset: true }).nullable(),
  enabled: z.boolean(),
  allowed_models: z.array(z.string().min(1).max(200)).max(500).nullable(),
};
const Create = z.object({ name, project_id: z.uuid().nullish(), ...z.object(settings).partial().shape });
const Change = z.object({ name, ...settings }).partial();

const Key = z.object({
  id: z.string(),
  name: z.string(),
  key_hint: z.string().describe("The last four characters."),
  project_id: z.string().nullable(),
  ...settings,
  last_used_at: z.iso.datetime().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
const Created = Key.extend({
  key: z.string().optional().describe("Shown once, and not again when the request is repeated."),
});

const time = (date: Date | null) => date?.toISOString() ?? null;

const present = (row: KeyRow): z.infer<typeof Key> => ({
  id: row.id,
  name: row.name,
  key_hint: row.key_hint,
  project_id: row.project_id,
  products: row.products as z.infer<typeof Product>[],
  enabled: row.enabled,
  expires_at: time(row.expires_at),
  allowed_models: row.allowed_models,
  last_used_at: time(row.last_used_at),
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

const utc = (moment: string | null | undefined) => (moment ? new Date(moment).toISOString() : null);
const unique = <T>(values: T[]): T[] => [...new Set(values)];

/** API keys of the organization (decisions: accounts), for owners and admins. */
export function keyRoutes(app: App, http: Http): void {
  const onRequest = requireAdmin(http);
  const described = { tags: ["Accounts"], security: [{ session: [] }] };
  const params = z.object({ id: z.string() });

  const find = async ({ organization_id }: Caller, id: string): Promise<KeyRow> => {
    const row = isUuid(id) ? await getKey(http.db, organization_id, id) : undefined;
    if (!row) throw new ApiError("key_not_found", "No API key has this id.", { param: "id" });
    return row;
  };

  app.get(
    "/keys",
    {
      onRequest,
      schema: { ...described, summary: "List API keys", querystring: PageQuery, response: { 200: listOf(Key) } },
    },
    async ({ caller, query }) => {
      const page = pageOf(query);
      const { rows, total } = await listKeys(http.db, caller.organization_id, page);
      return { data: rows.map(present), total, ...page };
    },
  );

  app.post(
    "/keys",
    { onRequest, schema: { ...described, summary: "Create an API key", body: Create, response: { 201: Created } } },
    async (request, reply) => {
      const { organization_id, principal } = request.caller;
      const { body } = request;
      const asking = { organization_id, principal, user: undefined, method: "POST", path: "/api/keys" };
      const sentKey = idempotencyKey(request.headers);
      const id = commandId(asking, sentKey);
      const key_id = sentKey === undefined ? newId() : idFrom(id, "key");
      const { secret, hash, hint } = newSecret("sk", http.settings.SERVICE_NAME);
      const { repeated } = await http.send(CreateKey, {
        stream: streamOf("key", key_id),
        organization_id,
        principal,
        request_id: request.id,
        id,
        fingerprint: fingerprintOf(asking, request.bodyHash),
        fresh: true,
        data: {
          key_id,
          key_hash: hash,
          key_hint: hint,
          project_id: body.project_id ?? null,
          name: body.name,
          products: unique(body.products ?? Product.options),
          expires_at: utc(body.expires_at),
          enabled: body.enabled ?? true,
          allowed_models: body.allowed_models ?? null,
        },
        waitFor: ["keys"],
      });
      const row = present(await find(request.caller, key_id));
      return reply.code(201).send(repeated ? row : { ...row, key: secret });
    },
  );

  app.patch(
    "/keys/:id",
    { onRequest, schema: { ...described, summary: "Change an API key", params, body: Change, response: { 200: Key } } },
    async (request) => {
      const { organization_id, principal } = request.caller;
      const { id: key_id } = await find(request.caller, request.params.id);
      const { expires_at, products, ...rest } = request.body;
      const data = {
        key_id,
        ...rest,
        ...(products && { products: unique(products) }),
        ...(expires_at !== undefined && { expires_at: utc(expires_at) }),
      };
      await http.send(ChangeKey, {
        stream: streamOf("key", key_id),
        organization_id,
        principal,
        request_id: request.id,
        data,
        waitFor: ["keys"],
      });
      return present(await find(request.caller, key_id));
    },
  );

  app.delete(
    "/keys/:id",
    { onRequest, schema: { ...described, summary: "Delete an API key", params, response: { 204: z.null() } } },
    async (request, reply) => {
      const { organization_id, principal } = request.caller;
      const { id: key_id } = await find(request.caller, request.params.id);
      await http.send(DeleteKey, {
        stream: streamOf("key", key_id),
        organization_id,
        principal,
        request_id: request.id,
        data: { key_id },
        waitFor: ["keys"],
      });
      return reply.code(204).send(null);
    },
  );
}
