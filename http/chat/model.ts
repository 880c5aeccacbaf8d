import type { Caller } from "../auth/caller.ts";
import type { ModelInfo } from "../catalog.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";

type Needs = Pick<Http, "catalog" | "providers">;
type Asker = Pick<Caller, "organization_id" | "allowed_models">;

/** A provider whose list cannot be had is asked for any name, and the name goes into a command of 256 KiB at most. */
const MAX_ID = 512;

export const isAllowed = ({ allowed_models }: Asker, id: string): boolean =>
  allowed_models === null || allowed_models.includes(id);

/** The model that a caller may use, or undefined. What is not found is looked for again with the newest credentials. */
export async function findModel(
  { catalog, providers }: Needs,
  caller: Asker,
  id: string,
): Promise<ModelInfo | undefined> {
  if (id.length > MAX_ID || !isAllowed(caller, id)) return undefined;
  const { organization_id } = caller;
  return (
    (await catalog.find(organization_id, await providers.recent(organization_id), id)) ??
    (await catalog.find(organization_id, await providers.fresh(organization_id), id))
  );
}

export const modelNotFound = (id: string, status: 400 | 404): ApiError =>
  new ApiError("model_not_found", `There is no model ${JSON.stringify(id.slice(0, 200))} for this credential.`, {
    param: "model",
    status,
  });
