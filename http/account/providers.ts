import { z } from "zod";
import { newId } from "#events/ids.ts";
import { ConfigureProvider, providerStream, RemoveProvider } from "#events/provider.ts";
import { getProvider, listProviders, type ProviderRow } from "#projections/providers/query.ts";
import { requireAdmin } from "../auth/authenticate.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { listOf, PageQuery, pageOf } from "../page.ts";
import { writtenAt } from "../send.ts";
import type { App } from "../app.ts";

/** Providers whose own address is known; every other one must name its own. */
const KNOWN = new Set(["openai", "anthropic", "google"]);
const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** It is shown and told to others, so it has no place for a secret; a path of the provider's API is put behind it. */
function isAddress(text: string): boolean {
  if (!URL.canParse(text) || /[?#]/.test(text)) return false;
  const { protocol, username, password } = new URL(text);
  return (protocol === "https:" || protocol === "http:") && !username && !password;
}

const Configure = z.object({
  api_key: z
    .string()
    .min(1)
    .max(4_096)
    .regex(/^[\x21-\x7e]+$/, "must be printable ASCII without spaces"),
  base_url: z
    .string()
    .max(2_000)
    .refine(isAddress, "must be an http or https URL without user, password, query and fragment")
    .nullish(),
  models: z.array(z.string().min(1).max(200)).max(500).nullish(),
});
const Provider = z.object({
  name: z.string(),
  base_url: z.string().nullable(),
  models: z.array(z.string()).nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

/** Never the secret. */
const present = ({ name, base_url, models, created_at, updated_at }: ProviderRow): z.infer<typeof Provider> => ({
  name,
  base_url,
  models,
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});

const absent = () => new ApiError("provider_not_found", "No provider of this name is configured.", { param: "name" });

/** Provider credentials of the organization (decisions: accounts), for owners and admins. */
export function providerRoutes(app: App, http: Http): void {
  const onRequest = requireAdmin(http);
  const described = { tags: ["Accounts"], security: [{ session: [] }] };
  const params = z.object({ name: z.string() });

  const find = async (organization: string, name: string): Promise<ProviderRow> => {
    await http.freshRead(["providers"], providerStream(organization, name));
    const row = await getProvider(http.db, organization, name);
    if (!row) throw absent();
    return row;
  };

  app.get(
    "/providers",
    {
      onRequest,
      schema: { ...described, summary: "List providers", querystring: PageQuery, response: { 200: listOf(Provider) } },
    },
    async ({ caller, query }) => {
      const { limit, offset } = pageOf(query);
      await http.freshRead(["providers"]);
      const rows = await listProviders(http.db, caller.organization_id);
      return { data: rows.slice(offset, offset + limit).map(present), total: rows.length, limit, offset };
    },
  );

  app.get(
    "/providers/:name",
    { onRequest, schema: { ...described, summary: "One provider", params, response: { 200: Provider } } },
    async ({ caller, params: { name } }) => present(await find(caller.organization_id, name)),
  );

  app.put(
    "/providers/:name",
    {
      onRequest,
      schema: { ...described, summary: "Configure a provider", params, body: Configure, response: { 200: Provider } },
    },
    async (request) => {
      const { organization_id, principal } = request.caller;
      const { name } = request.params;
      const { api_key, base_url = null, models = null } = request.body;
      if (!NAME.test(name) || name === "offline")
        throw new ApiError(
          "invalid_name",
          "name must be 1 to 64 lower-case letters, digits, - or _, and not offline.",
          { param: "name" },
        );
      if (base_url === null && !KNOWN.has(name))
        throw new ApiError("invalid_base_url", "base_url is required for this provider.", { param: "base_url" });
      const sealed_api_key = http.keyring.sealSecret(`provider:${organization_id}:${name}`, api_key);
      const { followed, position } = await http.send(ConfigureProvider, {
        stream: providerStream(organization_id, name),
        organization_id,
        principal,
        request_id: request.id,
        data: { name, credential_id: newId(), base_url, models, sealed_api_key },
        waitFor: ["providers"],
      });
      await http.providers.fresh(organization_id);
      if (followed) return present(await find(organization_id, name));
      const updated_at = await writtenAt(http, position);
      const { created_at = updated_at } = (await getProvider(http.db, organization_id, name)) ?? {};
      return present({ name, base_url, models, sealed_api_key, created_at, updated_at });
    },
  );

  app.delete(
    "/providers/:name",
    { onRequest, schema: { ...described, summary: "Remove a provider", params, response: { 204: z.null() } } },
    async (request, reply) => {
      const { organization_id, principal } = request.caller;
      const { name } = await find(organization_id, request.params.name);
      const stream = providerStream(organization_id, name);
      await http.send(RemoveProvider, {
        stream,
        organization_id,
        principal,
        request_id: request.id,
        data: { name },
        waitFor: ["providers"],
      });
      await http.providers.fresh(organization_id);
      return reply.code(204).send(null);
    },
  );
}
