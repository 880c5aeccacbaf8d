import { isAlias, type Route } from "#events/route.ts";
import type { Caller } from "./caller.ts";
import type { ModelInfo } from "./catalog.ts";
import type { Http } from "./deps.ts";
import { ApiError } from "./errors.ts";

type Needs = Pick<Http, "catalog" | "providers">;
type Requester = Pick<Caller, "organization_id" | "allowed_models">;

/** If a provider does not list its models, any name is accepted; this limit keeps it small within a command of 256 KiB. */
const MAX_MODEL_ID_LENGTH = 512;

export const isAllowed = ({ allowed_models }: Requester, id: string): boolean =>
  allowed_models === null || allowed_models.includes(id);

/** What `model` in a request refers to: a model, or an alias with the route for a new turn. */
export type NamedModel = { id: string; route?: Route };

/** Finds a model or alias. Undefined if there is none, or if the caller may not use it. */
export async function resolveModel(
  http: Needs & Pick<Http, "aliases">,
  caller: Requester,
  id: string,
): Promise<NamedModel | undefined> {
  if (!isAlias(id)) return findModel(http, caller, id);
  const route = isAllowed(caller, id) ? await http.aliases.route(caller.organization_id, id) : undefined;
  return route && { id, route };
}

/** Finds a model that the caller may use. A missing one is looked up again with current provider credentials. */
export async function findModel(
  { catalog, providers }: Needs,
  caller: Requester,
  id: string,
): Promise<ModelInfo | undefined> {
  if (id.length > MAX_MODEL_ID_LENGTH || !isAllowed(caller, id)) return undefined;
  const { organization_id } = caller;
  return (
    (await catalog.find(organization_id, await providers.recent(organization_id), id)) ??
    (await catalog.find(organization_id, await providers.readNow(organization_id), id))
  );
}

/** Clients written for one provider leave out the provider's name. */
const hintForName = (id: string): string =>
  isAlias(id)
    ? " Models are named provider/model, such as openai/gpt-5-mini, or by an alias; GET /models lists them."
    : "";

export const modelNotFound = (id: string, status: 400 | 404): ApiError =>
  new ApiError(
    "model_not_found",
    `There is no model ${JSON.stringify(id.slice(0, 200))} for this credential.${hintForName(id)}`,
    { param: "model", status },
  );
