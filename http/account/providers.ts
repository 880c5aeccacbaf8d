import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { newId } from "#events/ids.ts";
import { limitKeys } from "#events/limitKeys.ts";
import {
  ConfigureProvider,
  EMBEDDINGS,
  formatOf,
  isKnownApi,
  isSearchEndpoint,
  ProviderFormat,
  providerStream,
  RemoveProvider,
  WEB_SEARCH,
} from "#events/provider.ts";
import { getProvider, listProviders, type ProviderRow } from "#projections/providers/query.ts";
import { requireAdmin } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import { commandFields } from "../base/commandFields.ts";
import { checkCount } from "../base/countLimits.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { describeList, sliceResponse } from "../base/pageResponse.ts";
import { readRecordedAt } from "../base/send.ts";

const PROVIDER_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/**
 * Whether a text is a valid base URL. It is shown to people, so it must not contain a secret. API paths are appended to it, so it
 * must not have a query.
 */
function isBaseUrl(text: string): boolean {
  if (!/^https?:\/\/[^\s?#]+$/i.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return !username && !password;
}

const MIN_WINDOW = 1_000;
const MAX_WINDOW = 100_000_000;
const MAX_MODELS = 500;
const ModelName = z.string().min(1).max(200);
const ContextWindows = limitKeys(
  MAX_MODELS,
  z.record(ModelName, z.number().int().min(MIN_WINDOW).max(MAX_WINDOW)),
  `must name at most ${MAX_MODELS} models`,
);

/** No known model has longer vectors, which would make search slow. */
const MAX_DIMENSIONS = 4_096;

const Configure = z.object({
  api_key: z
    .string()
    .min(1)
    .max(4_096)
    .regex(/^[\x21-\x7e]+$/, "must be printable ASCII without spaces"),
  base_url: z
    .string()
    .max(2_000)
    .refine(isBaseUrl, "must be an http or https URL without user, password, query or fragment")
    .nullish(),
  models: z.array(ModelName).max(MAX_MODELS).nullish(),
  format: ProviderFormat.nullish().describe(
    "The API of the provider. Default: that of its name, else OpenAI's. Without `base_url`, its default address is used.",
  ),
  context_windows: ContextWindows.nullish().describe(
    "Tokens that a model reads and writes in one request, by its name without the provider. A thread sends what fits. Default: what is known of the model.",
  ),
  model: ModelName.nullish().describe("Of `embeddings` and `reranking`, which have one model: its name."),
  dimensions: z.int().min(1).max(MAX_DIMENSIONS).nullish().describe("Of `embeddings`: the numbers of a vector."),
});
const Provider = z
  .object({
    name: z.string(),
    base_url: z.string().nullable(),
    models: z.array(z.string()).nullable(),
    format: ProviderFormat.nullable().describe("Null: it has no models."),
    context_windows: z.record(z.string(), z.number().int()).nullable(),
    model: z.string().nullable().describe("Of `embeddings` and `reranking`."),
    dimensions: z.int().nullable().describe("Of `embeddings`."),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ title: "Provider" });

/** Leaves out the API key. */
const present = (row: ProviderRow): z.infer<typeof Provider> => ({
  name: row.name,
  base_url: row.base_url,
  models: row.models,
  format: row.name === WEB_SEARCH || row.model !== null ? null : formatOf({ provider: row.name, format: row.format }),
  context_windows: row.context_windows,
  model: row.model,
  dimensions: row.dimensions,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

async function requireProvider(http: Http, organization: string, name: string): Promise<ProviderRow> {
  await http.waitUntilCurrent(["providers"], providerStream(organization, name));
  const row = await getProvider(http.db, organization, name);
  if (row) return row;
  throw new ApiError("provider_not_found", "No provider of this name is configured.", { param: "name" });
}

const commandFor = (request: FastifyRequest, name: string) =>
  commandFields(request, providerStream(request.caller.organization_id, name), ["providers"]);

type Configure = z.infer<typeof Configure>;

/** Checks the settings of a search endpoint, which needs a model. Other providers must not have them. Throws 400. */
function checkEndpoint(name: string, { model, dimensions, base_url, models, context_windows }: Configure): void {
  const refuse = (param: string, why: string): never => {
    throw new ApiError(null, `${param} ${why}.`, { param });
  };
  if (!isSearchEndpoint(name)) {
    if (model) refuse("model", `is a setting of the providers embeddings and reranking only`);
    if (dimensions) refuse("dimensions", "is a setting of the provider embeddings only");
    return;
  }
  if (!base_url)
    throw new ApiError("invalid_base_url", "base_url is required for this provider.", { param: "base_url" });
  if (!model) refuse("model", `is required for the provider ${name}`);
  if (models || context_windows) refuse(models ? "models" : "context_windows", `is no setting of the provider ${name}`);
  if (name === EMBEDDINGS && !dimensions) refuse("dimensions", "is required for the provider embeddings");
  if (name !== EMBEDDINGS && dimensions) refuse("dimensions", "is a setting of the provider embeddings only");
}

async function configure(
  http: Http,
  request: FastifyRequest,
  name: string,
  body: Configure,
): Promise<z.infer<typeof Provider>> {
  const { api_key, base_url = null, models = null, format, context_windows = null } = body;
  const { model = null, dimensions = null } = body;
  const { organization_id } = request.caller;
  if (!PROVIDER_NAME.test(name) || name === "offline") {
    const message = "name must be 1-64 lower-case letters, digits, hyphens or underscores, and not offline.";
    throw new ApiError("invalid_name", message, { param: "name" });
  }
  checkEndpoint(name, body);
  if (format && format !== name && (isKnownApi(name) || name === WEB_SEARCH || isSearchEndpoint(name)))
    throw new ApiError(null, `The provider ${name} cannot have another format; use another name.`, { param: "format" });
  if (base_url === null && !format && !isKnownApi(name))
    throw new ApiError("invalid_base_url", "base_url is required for this provider.", { param: "base_url" });
  // does not wait for lagging read models, because a leaked credential must be replaceable at once
  await checkCount(http, organization_id, "providers", () => getProvider(http.db, organization_id, name));
  const sealed_api_key = http.keyring.sealSecret(`provider:${organization_id}:${name}`, api_key);
  const settings = { name, base_url, models, ...(format && { format }) };
  const optional = {
    ...(context_windows && { context_windows }),
    ...(model && { model }),
    ...(dimensions && { dimensions }),
  };
  const data = { ...settings, ...optional, credential_id: newId(), sealed_api_key };
  const { projected, position } = await http.send(ConfigureProvider, { ...commandFor(request, name), data });
  await http.providers.readNow(organization_id);
  if (projected) return present(await requireProvider(http, organization_id, name));
  const updated_at = await readRecordedAt(http, position);
  const { created_at = updated_at } = (await getProvider(http.db, organization_id, name)) ?? {};
  return present({ ...settings, context_windows, model, dimensions, sealed_api_key, created_at, updated_at });
}

/** Provider credentials of the organization, for owners and admins. */
export function providerRoutes(app: App, http: Http): void {
  const onRequest = requireAdmin(http);
  const baseSchema = { tags: ["Accounts"], security: [{ session: [] }] };
  const itemSchema = { ...baseSchema, params: z.object({ name: z.string() }) };

  const listing = describeList(baseSchema, "List providers", Provider);
  app.get("/providers", { onRequest, schema: listing }, async ({ caller, query }) => {
    await http.waitUntilCurrent(["providers"]);
    const rows = await listProviders(http.db, caller.organization_id);
    return sliceResponse(query, rows, present);
  });

  const reading = { ...itemSchema, summary: "Get a provider", response: { 200: Provider } };
  app.get("/providers/:name", { onRequest, schema: reading }, async ({ caller, params }) =>
    present(await requireProvider(http, caller.organization_id, params.name)),
  );

  const configuring = { ...itemSchema, summary: "Configure a provider", body: Configure, response: { 200: Provider } };
  app.put("/providers/:name", { onRequest, schema: configuring }, (request) =>
    configure(http, request, request.params.name, request.body),
  );

  const removing = { ...itemSchema, summary: "Remove a provider", response: { 204: z.null() } };
  app.delete("/providers/:name", { onRequest, schema: removing }, async (request, reply) => {
    const { organization_id } = request.caller;
    const { name } = await requireProvider(http, organization_id, request.params.name);
    await http.send(RemoveProvider, { ...commandFor(request, name), data: { name } });
    await http.providers.readNow(organization_id);
    return reply.code(204).send(null);
  });
}
