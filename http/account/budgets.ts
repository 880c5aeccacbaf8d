import type { FastifyRequest } from "fastify";
import { z } from "zod";
import {
  budgetStream,
  budgetSubject,
  EACH_USER,
  LimitName,
  nameSubject,
  RateName,
  RemoveBudget,
  SetBudget,
  type BudgetAlert,
} from "#events/budget.ts";
import { actorOf } from "#events/runOrigin.ts";
import { requireAdmin } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import { commandFields } from "../base/commandFields.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { describeList, sliceResponse } from "../base/pageResponse.ts";
import { Budget, BudgetToSet, presentBudgets, readLimits, SUBJECT_DESCRIPTION, uncountedLimit } from "./budgetShape.ts";
import {
  checkModel,
  checkSubjectExists,
  checkWorkflow,
  checkSubjectShape,
  listStoredSubjects,
} from "./budgetSubject.ts";

/** Maximum budgets per organization, because all of them are read at once. */
const MAX_BUDGETS = 1_000;
const READ_MODELS = ["budgets", "usage"];
const MODEL = /^[\x21-\x7e]{1,200}$/;

interface Request {
  params: { subject: string };
  query: { model?: string | undefined };
}

async function listAll(http: Http, organization: string): Promise<Budget[]> {
  await http.waitUntilCurrent(READ_MODELS);
  const statuses = await http.budgets.statuses(organization);
  const rates = await http.rates.statuses(
    organization,
    statuses.map(({ budget }) => budget),
  );
  return presentBudgets(statuses, rates);
}

/** Identifies a budget: its subject, and optionally a model. */
interface BudgetName {
  name: string;
  model: string | undefined;
}
const isNamed = (subjects: string[], model: string | undefined, budget: Budget): boolean =>
  subjects.includes(budget.subject) && budget.model === (model ?? null);

async function findBudget(http: Http, organization: string, { name, model }: BudgetName): Promise<Budget> {
  const subjects = listStoredSubjects(http, organization, name);
  const found = (await listAll(http, organization)).find((budget) => isNamed(subjects, model, budget));
  if (found) return found;
  const about = model === undefined ? "" : " and model";
  throw new ApiError("budget_not_found", `No budget of this subject${about} is set.`, { param: "subject" });
}

const commandFor = (request: FastifyRequest, subject: string) => ({
  ...commandFields(request, budgetStream(request.caller.organization_id, subject), ["budgets"]),
  // so that the budget applies in this process at once; others follow within seconds
  requireProjected: true,
});

/** Reads the alert's settings. The caller answers for its runs. Throws 404 `workflow_not_found`. */
async function readAlert(
  http: Http,
  { caller }: FastifyRequest,
  who: string,
  workflow_id: string | null | undefined,
): Promise<BudgetAlert | undefined> {
  if (workflow_id == null) return undefined;
  if (who === EACH_USER)
    throw new ApiError(null, "workflow_id cannot be set for each-user: users who reach its limit start no workflow.", {
      param: "workflow_id",
    });
  await checkWorkflow(http, caller.organization_id, workflow_id);
  return { workflow_id, set_by: actorOf(caller.principal) };
}

async function setBudget(
  http: Http,
  request: FastifyRequest,
  { name, model }: BudgetName,
  body: z.infer<typeof BudgetToSet>,
): Promise<Budget> {
  const { organization_id } = request.caller;
  const named = listStoredSubjects(http, organization_id, name);
  checkSubjectShape(name, named[0]);
  const all = await listAll(http, organization_id);
  const known = all.find((budget) => isNamed(named, model, budget));
  const who = known?.subject ?? named[0];
  const subject = budgetSubject(who, model);
  const limits = readLimits(body);
  if (Object.keys(limits).length === 0)
    throw new ApiError(
      null,
      `The budget has no limit: set one of ${[...RateName.options, ...LimitName.options].join(", ")}.`,
      { param: "cost_per_month" },
    );
  const uncounted = uncountedLimit(subject, limits);
  if (uncounted !== undefined)
    throw new ApiError(
      null,
      `${uncounted} cannot be limited for ${nameSubject(subject)}: nothing of it counts there.`,
      {
        param: uncounted,
      },
    );
  await checkSubjectExists(http, organization_id, who);
  const warning = model === undefined ? undefined : await checkModel(http, organization_id, model);
  if (!known && all.length >= MAX_BUDGETS)
    throw new ApiError(
      "too_many_budgets",
      `An organization may have at most ${MAX_BUDGETS} budgets; remove one first.`,
      { param: "subject" },
    );
  const alert = await readAlert(http, request, who, body.workflow_id);
  const data = { subject, limits, hard: body.hard, ...(alert && { alert }) };
  await http.send(SetBudget, { ...commandFor(request, subject), data });
  const budget = await findBudget(http, organization_id, { name: who, model });
  return warning === undefined ? budget : { ...budget, warning };
}

/** Budget routes, for owners and admins. */
export function budgetRoutes(app: App, http: Http): void {
  const onRequest = requireAdmin(http);
  const baseSchema = { tags: ["Accounts"], security: [{ session: [] }] };
  const params = z.object({
    subject: z.string().describe(SUBJECT_DESCRIPTION),
  });
  const querystring = z.object({
    model: z
      .string()
      .regex(MODEL, "must be the name of a model or an alias, of 1 to 200 printable ASCII characters")
      .optional()
      .describe("The budget counts turns only that name this model or alias. Default: all turns."),
  });
  const itemSchema = { ...baseSchema, params, querystring };
  const nameOf = ({ params: { subject }, query: { model } }: Request): BudgetName => ({ name: subject, model });

  const listing = describeList(baseSchema, "List budgets and what was spent of them", Budget);
  app.get("/budgets", { onRequest, schema: listing }, async ({ caller, query }) => {
    const all = await listAll(http, caller.organization_id);
    return sliceResponse(query, all, (budget) => budget);
  });

  const reading = { ...itemSchema, summary: "Get a budget and what was spent of it", response: { 200: Budget } };
  app.get("/budgets/:subject", { onRequest, schema: reading }, (request) =>
    findBudget(http, request.caller.organization_id, nameOf(request)),
  );

  const setting = {
    ...itemSchema,
    summary: "Set a budget",
    description: "Replaces the limits of the subject, which must exist. What was spent before counts.",
    body: BudgetToSet,
    response: { 200: Budget },
  };
  app.put("/budgets/:subject", { onRequest, schema: setting }, (request) =>
    setBudget(http, request, nameOf(request), request.body),
  );

  const removing = { ...itemSchema, summary: "Remove a budget", response: { 204: z.null() } };
  app.delete("/budgets/:subject", { onRequest, schema: removing }, async (request, reply) => {
    const { organization_id } = request.caller;
    const { subject: who, model } = await findBudget(http, organization_id, nameOf(request));
    const subject = budgetSubject(who, model);
    await http.send(RemoveBudget, { ...commandFor(request, subject), data: { subject } });
    await http.budgets.statuses(organization_id);
    return reply.code(204).send(null);
  });
}
