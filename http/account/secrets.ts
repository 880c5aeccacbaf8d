import { z } from "zod";
import { newId } from "#events/ids.ts";
import { RemoveSecret, SECRET_NAME, secretStream, SetSecret } from "#events/secret.ts";
import { getSecret, listSecrets, type SecretRow } from "#projections/secrets/query.ts";
import { requireBuilder } from "../auth/authenticate.ts";
import type { App } from "../app.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { listOf, PageQuery, pageOf } from "../page.ts";
import { notReadable } from "../send.ts";

const Value = z.object({ value: z.string().min(1).max(16_384) });
const Secret = z.object({ name: z.string(), created_at: z.iso.datetime(), updated_at: z.iso.datetime() });

/** Never the value. */
const present = ({ name, created_at, updated_at }: SecretRow): z.infer<typeof Secret> => ({
  name,
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});

/** Secrets of the organization for its scripts (decisions: accounts): written, never read back. */
export function secretRoutes(app: App, http: Http): void {
  const onRequest = requireBuilder(http);
  const described = { tags: ["Scripts"], security: [{ session: [] }] };
  const one = { ...described, params: z.object({ name: z.string() }) };

  const find = async (organization: string, name: string): Promise<SecretRow> => {
    await http.freshRead(["secrets"], secretStream(organization, name));
    const row = await getSecret(http.db, organization, name);
    if (!row) throw new ApiError("secret_not_found", "No secret has this name.", { param: "name" });
    return row;
  };

  const listing = { ...described, summary: "List secrets", querystring: PageQuery, response: { 200: listOf(Secret) } };
  app.get("/secrets", { onRequest, schema: listing }, async ({ caller, query }) => {
    const { limit, offset } = pageOf(query);
    await http.freshRead(["secrets"]);
    const rows = await listSecrets(http.db, caller.organization_id);
    return { data: rows.slice(offset, offset + limit).map(present), total: rows.length, limit, offset };
  });

  const reading = { ...one, summary: "One secret, without its value", response: { 200: Secret } };
  app.get("/secrets/:name", { onRequest, schema: reading }, async ({ caller, params }) =>
    present(await find(caller.organization_id, params.name)),
  );

  const setting = { ...one, summary: "Set a secret", body: Value, response: { 200: Secret } };
  app.put("/secrets/:name", { onRequest, schema: setting }, async (request) => {
    const { organization_id, principal } = request.caller;
    const { name } = request.params;
    if (!SECRET_NAME.test(name))
      throw new ApiError("invalid_name", "name must be 1 to 64 letters, digits or _, no digit first.", {
        param: "name",
      });
    const { followed } = await http.send(SetSecret, {
      stream: secretStream(organization_id, name),
      organization_id,
      principal,
      request_id: request.id,
      data: {
        name,
        credential_id: newId(),
        sealed_value: http.keyring.sealSecret(`secret:${organization_id}:${name}`, request.body.value),
      },
      waitFor: ["secrets"],
    });
    if (!followed) throw notReadable();
    return present(await find(organization_id, name));
  });

  const removing = { ...one, summary: "Remove a secret", response: { 204: z.null() } };
  app.delete("/secrets/:name", { onRequest, schema: removing }, async (request, reply) => {
    const { organization_id, principal } = request.caller;
    const { name } = await find(organization_id, request.params.name);
    await http.send(RemoveSecret, {
      stream: secretStream(organization_id, name),
      organization_id,
      principal,
      request_id: request.id,
      data: { name },
      waitFor: ["secrets"],
      mustFollow: true,
    });
    return reply.code(204).send(null);
  });
}
