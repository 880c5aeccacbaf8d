import type { ErrorCode } from "#events/errorCodes.ts";
import { BUDGET_SUBJECT } from "#events/budget.ts";
import { streamName } from "#events/ids.ts";
import { isAlias } from "#events/route.ts";
import { getAgent } from "#projections/agents/query.ts";
import { getKey } from "#projections/keys/query.ts";
import { listPrices } from "#projections/prices/query.ts";
import { getMember } from "#projections/users/query.ts";
import { getWorkflow } from "#projections/workflows/query.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { findCurrent } from "../base/findById.ts";
import { findProject } from "../base/findProject.ts";
import { markUser } from "../base/limits.ts";
import { findModel, resolveModel } from "../base/model.ts";
import { findSimilarNames } from "../base/findSimilarNames.ts";

type Find = (http: Http, organization: string, id: string) => Promise<object | undefined>;

/** The kinds of things that a subject can name, with the look-up of their current state. */
const THINGS: Record<string, { noun: string; code: ErrorCode; find: Find }> = {
  project: { noun: "project", code: "project_not_found", find: findProject },
  key: {
    noun: "API key",
    code: "key_not_found",
    find: (http, organization, id) => findCurrent(http, ["keys"], ["key", id], () => getKey(http.db, organization, id)),
  },
  person: {
    noun: "member",
    code: "member_not_found",
    find: async ({ db, waitUntilCurrent }, organization, id) => {
      await waitUntilCurrent(["users"], streamName("organization", organization));
      return getMember(db, organization, id);
    },
  },
  agent: {
    noun: "agent",
    code: "agent_not_found",
    find: (http, organization, id) =>
      findCurrent(http, ["agents"], ["agent", id], () => getAgent(http.db, organization, id)),
  },
};

const refuse = (code: ErrorCode, message: string) => new ApiError(code, message, { param: "subject" });

const USER = "user:";

/**
 * The stored forms of a subject's name. An external user is stored as a keyed hash, but answers show the hash, so such a name may
 * mean either the user or the hash itself.
 */
export function listStoredSubjects(http: Http, organization: string, name: string): [string, ...string[]] {
  if (!name.startsWith(USER)) return [name.toLowerCase()];
  return [`${USER}${markUser(http, organization, name.slice(USER.length))}`, name];
}

/** Throws 400 `invalid_subject`. */
export function checkSubjectShape(name: string, subject: string): void {
  // `USER:<value>` is not hashed as `user:<value>` is: the log would keep the value
  const isUnmarked = subject.startsWith(USER) && !name.startsWith(USER);
  if (name === USER || isUnmarked || subject.includes("@") || !BUDGET_SUBJECT.test(subject))
    throw refuse(
      "invalid_subject",
      "subject must be organization, each-user, project:<id>, key:<id>, person:<id>, agent:<id> or user:<value>.",
    );
}

/** Checks that the subject exists: a misspelt id would look like a limit and limit nothing. Throws the 404 for its kind. */
export async function checkSubjectExists(http: Http, organization: string, subject: string): Promise<void> {
  const [kind, id] = subject.split(":");
  const thing = THINGS[kind!];
  if (thing && !(await thing.find(http, organization, id!)))
    throw refuse(thing.code, `subject: no ${thing.noun} of this organization has the id ${id}.`);
}

/** A hint with similar models, aliases and names that have a price. */
async function similarTo(http: Http, organization: string, model: string): Promise<string> {
  const [rows, aliases, prices] = await Promise.all([
    http.providers.recent(organization),
    http.aliases.list(organization),
    listPrices(http.db, organization),
  ]);
  const models = await http.catalog.list(organization, rows);
  const known = [
    ...aliases.map(({ alias }) => alias),
    ...models.map(({ id }) => id),
    ...prices.map((row) => row.model),
  ];
  const near = await findSimilarNames(model, known);
  return near.length > 0 ? ` Similar names: ${near.join(", ")}.` : "";
}

/**
 * Checks that a model exists: a misspelt one would look like a limit and limit nothing. Throws 404 `model_not_found` with similar
 * names. Returns a warning if the provider's list cannot be read, so that the model cannot be checked; else undefined.
 */
export async function checkModel(http: Http, organization_id: string, model: string): Promise<string | undefined> {
  const caller = { organization_id, allowed_models: null };
  const found = isAlias(model) ? await resolveModel(http, caller, model) : await findModel(http, caller, model);
  if (!found) {
    const similar = await similarTo(http, organization_id, model);
    throw new ApiError("model_not_found", `model: there is no ${model} in this organization.${similar}`, {
      param: "model",
      status: 404,
    });
  }
  if (!("isUnlisted" in found)) return undefined;
  const similar = await similarTo(http, organization_id, model);
  return `model: the provider's list of models cannot be read, so ${model} could not be checked. If there is no such model, this budget counts nothing.${similar}`;
}

/** Throws 404 `workflow_not_found`. */
export async function checkWorkflow(http: Http, organization: string, id: string): Promise<void> {
  const find = () => getWorkflow(http.db, organization, id);
  if (!(await findCurrent(http, ["workflows"], ["workflow", id], find)))
    throw new ApiError("workflow_not_found", "workflow_id: no workflow of this organization has this id.", {
      param: "workflow_id",
    });
}
