import { isAlias, type Route } from "#events/route.ts";
import type { Caller } from "./caller.ts";
import type { ModelInfo } from "./catalog.ts";
import type { Http } from "./deps.ts";
import { ApiError } from "./errors.ts";

type Needs = Pick<Http, "catalog" | "providers">;
type Requester = Pick<Caller, "organization_id" | "allowed_models">;

/** When a provider does not list its models, every name is passed to it; this keeps names small within a command of 256 KiB. */
const MAX_MODEL_ID_LENGTH = 512;

export const isAllowed = ({ allowed_models }: Requester, id: string): boolean =>
  allowed_models === null || allowed_models.includes(id);

/** What a caller may name as `model`: a model, or an alias with the route of a new turn. */
export type NamedModel = { id: string; route?: Route };

/** Undefined when there is no such model or alias, or the caller may not use it. */
export async function resolveModel(
  http: Needs & Pick<Http, "aliases">,
  caller: Requester,
  id: string,
): Promise<NamedModel | undefined> {
  if (!isAlias(id)) return findModel(http, caller, id);
  const route = isAllowed(caller, id) ? await http.aliases.route(caller.organization_id, id) : undefined;
  return route && { id, route };
}

/** The model, if the caller may use it. A missing one is looked up again with the provider credentials read fresh. */
export async function findModel(
  { catalog, providers }: Needs,
  caller: Requester,
  id: string,
): Promise<ModelInfo | undefined> {
  if (id.length > MAX_MODEL_ID_LENGTH || !isAllowed(caller, id)) return undefined;
  const { organization_id } = caller;
  return (
    (await catalog.find(organization_id, await providers.recent(organization_id), id)) ??
    (await catalog.find(organization_id, await providers.fresh(organization_id), id))
  );
}

/** Programs written for one provider leave its name out. */
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
