import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { aliasesStream, ConfigureAlias, RemoveAlias } from "#events/alias.ts";
import { ALIAS_NAME, CONDITION, DEFAULT_CONDITIONS, isAlias, MAX_TARGETS, REGION } from "#events/route.ts";
import { getAlias, listAliases, type AliasRow } from "#projections/aliases/query.ts";
import { requireAdmin } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import { commandFields } from "../base/commandFields.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { describeList, sliceResponse } from "../base/pageResponse.ts";
import { findModel } from "../base/model.ts";

const MAX_WEIGHT = 1_000;
const MAX_CONDITIONS = 20;

const Target = z.object({
  model: z.string().min(1).max(512).describe("`provider/model`; another alias is refused."),
  weight: z
    .int()
    .min(0)
    .max(MAX_WEIGHT)
    .optional()
    .describe(
      "Its share of first requests. 0: it is asked only after targets with a share. Either all targets have a weight or none.",
    ),
  region: z
    .string()
    .regex(REGION, "must be 1 to 32 lower-case letters, digits or hyphens, as in eu-west-1")
    .optional()
    .describe("Where it runs. Processes of this region ask it before those of other regions."),
});
const Settings = z.object({
  targets: z.array(Target).min(1).max(MAX_TARGETS).describe("Without weights they are tried in this order."),
  on: z
    .array(
      z
        .string()
        .regex(
          CONDITION,
          "must be timeout, connection, context_length, content_filter, 5xx or a status from 400 to 599",
        ),
    )
    .min(1)
    .max(MAX_CONDITIONS)
    .default(DEFAULT_CONDITIONS)
    .describe(
      "Failures after which the next target is tried: `timeout`, `connection`, `context_length`, `content_filter`, `5xx`, or a status.",
    ),
  timeout_seconds: z
    .int()
    .min(1)
    .max(600)
    .default(60)
    .describe("How long a target may take to send the first piece of its answer."),
  max_attempts: z.int().min(1).max(10).default(5).describe("Maximum failed requests of a turn."),
  max_seconds: z.int().min(1).max(1_800).default(180).describe("Maximum time of a turn's failed requests, in total."),
});
const Alias = Settings.extend({ alias: z.string(), updated_at: z.iso.datetime() }).meta({ title: "Alias" });

const present = ({ updated_at, ...settings }: AliasRow): z.infer<typeof Alias> => ({
  ...settings,
  updated_at: updated_at.toISOString(),
});

async function requireAlias(http: Http, organization: string, name: string): Promise<AliasRow> {
  await http.waitUntilCurrent(["aliases"], aliasesStream(organization));
  const row = await getAlias(http.db, organization, name);
  if (row) return row;
  throw new ApiError("alias_not_found", "There is no alias of this name.", { param: "alias" });
}

const invalid = (param: string, reason: string): ApiError => new ApiError(null, `${param}: ${reason}`, { param });

/** Checks what the schema cannot express. */
function checkTargets(targets: z.infer<typeof Target>[]): void {
  const weighted = targets.filter(({ weight }) => weight !== undefined);
  const models = targets.map(({ model }) => model);
  for (const [n, { model, weight }] of targets.entries()) {
    const at = `targets[${n}]`;
    if (isAlias(model)) throw invalid(`${at}.model`, "must be provider/model; an alias cannot be a target.");
    if (models.indexOf(model) !== n) throw invalid(`${at}.model`, "is a target already; each may be named once.");
    if (weighted.length > 0 && weight === undefined)
      throw invalid(`${at}.weight`, "is missing; either all targets have a weight or none.");
  }
  if (weighted.length > 0 && weighted.every(({ weight }) => weight === 0))
    throw invalid("targets[0].weight", "must be more than 0 for one target at least.");
}

async function checkModels(http: Http, organization_id: string, targets: z.infer<typeof Target>[]): Promise<void> {
  const caller = { organization_id, allowed_models: null };
  const found = await Promise.all(targets.map(({ model }) => findModel(http, caller, model)));
  const n = found.indexOf(undefined);
  if (n === -1) return;
  const param = `targets[${n}].model`;
  const model = JSON.stringify(targets[n]!.model.slice(0, 200));
  throw new ApiError("model_not_found", `${param}: there is no model ${model} for this organization.`, {
    param,
    status: 400,
  });
}

const commandFor = (request: FastifyRequest) =>
  commandFields(request, aliasesStream(request.caller.organization_id), ["aliases"]);

async function configure(http: Http, request: FastifyRequest, alias: string, settings: z.infer<typeof Settings>) {
  const { organization_id } = request.caller;
  if (!ALIAS_NAME.test(alias)) {
    const message =
      "alias must be 1-64 lower-case letters, digits, dots, hyphens or underscores. A slash would make it the name of a model.";
    throw new ApiError("invalid_name", message, { param: "alias" });
  }
  checkTargets(settings.targets);
  await checkModels(http, organization_id, settings.targets);
  const data = { alias, ...settings, on: [...new Set(settings.on)] };
  await http.send(ConfigureAlias, { ...commandFor(request), data, requireProjected: true });
  http.aliases.forget(organization_id);
  return present(await requireAlias(http, organization_id, alias));
}

/** Routes for aliases, names that stand for several models in turn (ADR 31). For owners and admins, like those for providers. */
export function aliasRoutes(app: App, http: Http): void {
  const onRequest = requireAdmin(http);
  const baseSchema = { tags: ["Accounts"], security: [{ session: [] }] };
  const itemSchema = { ...baseSchema, params: z.object({ alias: z.string() }) };

  const listing = describeList(baseSchema, "List aliases of models", Alias);
  app.get("/aliases", { onRequest, schema: listing }, async ({ caller, query }) => {
    await http.waitUntilCurrent(["aliases"]);
    const rows = await listAliases(http.db, caller.organization_id);
    return sliceResponse(query, rows, present);
  });

  const reading = { ...itemSchema, summary: "Get an alias", response: { 200: Alias } };
  app.get("/aliases/:alias", { onRequest, schema: reading }, async ({ caller, params }) =>
    present(await requireAlias(http, caller.organization_id, params.alias)),
  );

  const description =
    "Creates the alias or replaces its settings. Its name is used as `model` in completions, agents and chat steps. Turns that run keep the targets that they started with.";
  const configuring = {
    ...itemSchema,
    summary: "Configure an alias",
    description,
    body: Settings,
    response: { 200: Alias },
  };
  app.put("/aliases/:alias", { onRequest, schema: configuring }, (request) =>
    configure(http, request, request.params.alias, request.body),
  );

  const removing = { ...itemSchema, summary: "Remove an alias", response: { 204: z.null() } };
  app.delete("/aliases/:alias", { onRequest, schema: removing }, async (request, reply) => {
    const { organization_id } = request.caller;
    const { alias } = await requireAlias(http, organization_id, request.params.alias);
    await http.send(RemoveAlias, { ...commandFor(request), data: { alias }, requireProjected: true });
    http.aliases.forget(organization_id);
    return reply.code(204).send(null);
  });
}
