import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { newId } from "#events/ids.ts";
import { RemoveSecret, SECRET_NAME, secretStream, SetSecret } from "#events/secret.ts";
import { getSecret, listSecrets, type SecretRow } from "#projections/secrets/query.ts";
import { requireBuilder } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import { commandFields } from "../base/commandFields.ts";
import { checkCount } from "../base/countLimits.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { describeList, sliceResponse } from "../base/pageResponse.ts";

/** Shorter values occur in ordinary text, so they could not be removed from logs and results. */
const MIN_LENGTH = 4;
const Value = z.object({
  value: z.string().min(MIN_LENGTH, `must have ${MIN_LENGTH} characters or more`).max(16_384),
});
const Secret = z
  .object({ name: z.string(), created_at: z.iso.datetime(), updated_at: z.iso.datetime() })
  .meta({ title: "Secret" });

/** Leaves out the value. */
const present = ({ name, created_at, updated_at }: SecretRow): z.infer<typeof Secret> => ({
  name,
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});

/** Secrets for the organization's scripts. Clients can write them but never read them back. */
export function secretRoutes(app: App, http: Http): void {
  const onRequest = requireBuilder(http);
  const baseSchema = { tags: ["Scripts"], security: [{ session: [] }] };
  const itemSchema = { ...baseSchema, params: z.object({ name: z.string() }) };
  const commandFor = (request: FastifyRequest, name: string) =>
    commandFields(request, secretStream(request.caller.organization_id, name), ["secrets"]);

  const requireSecret = async (organization: string, name: string): Promise<SecretRow> => {
    await http.waitUntilCurrent(["secrets"], secretStream(organization, name));
    const row = await getSecret(http.db, organization, name);
    if (!row) throw new ApiError("secret_not_found", "No secret has this name.", { param: "name" });
    return row;
  };

  const listing = describeList(baseSchema, "List secrets", Secret);
  app.get("/secrets", { onRequest, schema: listing }, async ({ caller, query }) => {
    await http.waitUntilCurrent(["secrets"]);
    const rows = await listSecrets(http.db, caller.organization_id);
    return sliceResponse(query, rows, present);
  });

  const reading = { ...itemSchema, summary: "Get a secret, without its value", response: { 200: Secret } };
  app.get("/secrets/:name", { onRequest, schema: reading }, async ({ caller, params }) =>
    present(await requireSecret(caller.organization_id, params.name)),
  );

  const setting = { ...itemSchema, summary: "Set a secret", body: Value, response: { 200: Secret } };
  app.put("/secrets/:name", { onRequest, schema: setting }, async (request) => {
    const { organization_id } = request.caller;
    const { name } = request.params;
    if (!SECRET_NAME.test(name)) {
      const message = "name must be 1-64 letters, digits or underscores and must not start with a digit.";
      throw new ApiError("invalid_name", message, { param: "name" });
    }
    await checkCount(http, organization_id, "secrets", () => getSecret(http.db, organization_id, name));
    const sealed_value = http.keyring.sealSecret(`secret:${organization_id}:${name}`, request.body.value);
    const data = { name, credential_id: newId(), sealed_value };
    await http.send(SetSecret, { ...commandFor(request, name), data, requireProjected: true });
    return present(await requireSecret(organization_id, name));
  });

  const removing = { ...itemSchema, summary: "Remove a secret", response: { 204: z.null() } };
  app.delete("/secrets/:name", { onRequest, schema: removing }, async (request, reply) => {
    const { name } = await requireSecret(request.caller.organization_id, request.params.name);
    await http.send(RemoveSecret, { ...commandFor(request, name), data: { name }, requireProjected: true });
    return reply.code(204).send(null);
  });
}
