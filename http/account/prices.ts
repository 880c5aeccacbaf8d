import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { priceStream, RemovePrices, SetPrices } from "#events/price.ts";
import { mapInSlices } from "#events/slices.ts";
import { getPrices, listPrices } from "#projections/prices/query.ts";
import { requireAdmin } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import { commandFields } from "../base/commandFields.ts";
import { checkCount } from "../base/countLimits.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { describeList, sliceResponse } from "../base/pageResponse.ts";
import { readRecordedAt } from "../base/send.ts";
import { defaultPricesFor, ModelPrices, presentPrices, PricesToSet, readPrices } from "./priceShape.ts";

const MAX_MODEL_LENGTH = 300;
const Params = z.object({ provider: z.string(), model: z.string().describe("A `/` in the name is written `%2F`.") });
type Params = z.infer<typeof Params>;

const modelOf = ({ provider, model }: Params): string => `${provider}/${model}`;

const priceNotFound = () =>
  new ApiError("price_not_found", "This model has no price: the organization has set none, and there is no default.", {
    param: "model",
  });

const readDefaults = async (http: Http, organization: string) =>
  defaultPricesFor(await http.providers.readNow(organization));

/** Lists the organization's prices, then the defaults that it has not replaced. */
async function listAll(http: Http, organization: string): Promise<ModelPrices[]> {
  await http.waitUntilCurrent(["prices", "providers"]);
  const defaults = await readDefaults(http, organization);
  const rows = await listPrices(http.db, organization);
  const own = await mapInSlices(rows, (row) => presentPrices(row, defaults.get(row.model)));
  const replaced = new Set(own.map(({ model }) => model));
  return [...own, ...defaults.values().filter(({ model }) => !replaced.has(model))];
}

/** The organization's prices of a model, else the default. */
async function findPrices(http: Http, organization: string, model: string): Promise<ModelPrices | undefined> {
  await http.waitUntilCurrent(["prices"], priceStream(organization, model));
  const row = await getPrices(http.db, organization, model);
  const published = (await readDefaults(http, organization)).get(model);
  return row ? presentPrices(row, published) : published;
}

const commandFor = (request: FastifyRequest, model: string) =>
  commandFields(request, priceStream(request.caller.organization_id, model), ["prices"]);

async function setPrices(
  http: Http,
  request: FastifyRequest,
  params: Params,
  body: z.infer<typeof PricesToSet>,
): Promise<ModelPrices> {
  const { organization_id } = request.caller;
  const model = modelOf(params);
  if (!/^[a-z0-9][a-z0-9_-]{0,63}\/./.test(model) || model.length > MAX_MODEL_LENGTH) {
    const message = `provider must be the name of a provider, and provider/model must have at most ${MAX_MODEL_LENGTH} characters.`;
    throw new ApiError("invalid_name", message, { param: "model" });
  }
  const prices = readPrices(model, body);
  await checkCount(http, organization_id, "prices", () => getPrices(http.db, organization_id, model));
  const { position } = await http.send(SetPrices, { ...commandFor(request, model), data: { model, prices } });
  const updated_at = await readRecordedAt(http, position);
  const defaults = await readDefaults(http, organization_id);
  return presentPrices({ model, prices, updated_at }, defaults.get(model));
}

/** What models cost the organization, for owners and admins. */
export function priceRoutes(app: App, http: Http): void {
  const onRequest = requireAdmin(http);
  const baseSchema = { tags: ["Accounts"], security: [{ session: [] }] };
  const itemSchema = { ...baseSchema, params: Params };

  const listing = describeList(baseSchema, "List prices of models", ModelPrices);
  app.get("/prices", { onRequest, schema: listing }, async ({ caller, query }) => {
    const all = await listAll(http, caller.organization_id);
    return sliceResponse(query, all, (prices) => prices);
  });

  const reading = { ...itemSchema, summary: "Get the prices of a model", response: { 200: ModelPrices } };
  app.get("/prices/:provider/:model", { onRequest, schema: reading }, async ({ caller, params }) => {
    const found = await findPrices(http, caller.organization_id, modelOf(params));
    if (!found) throw priceNotFound();
    return found;
  });

  const setting = {
    ...itemSchema,
    summary: "Set the prices of a model",
    description:
      "US dollars per million tokens; of `reading/pages`, dollars per page. They hold for turns that begin from now on; the cost of earlier turns does not change.",
    body: PricesToSet,
    response: { 200: ModelPrices },
  };
  app.put("/prices/:provider/:model", { onRequest, schema: setting }, (request) =>
    setPrices(http, request, request.params, request.body),
  );

  const removing = {
    ...itemSchema,
    summary: "Remove the organization's prices of a model",
    description: "The default applies again, if there is one.",
    response: { 204: z.null() },
  };
  app.delete("/prices/:provider/:model", { onRequest, schema: removing }, async (request, reply) => {
    const { organization_id } = request.caller;
    const model = modelOf(request.params);
    const found = await findPrices(http, organization_id, model);
    if (found?.set_by !== "organization") throw priceNotFound();
    await http.send(RemovePrices, { ...commandFor(request, model), data: { model } });
    return reply.code(204).send(null);
  });
}
