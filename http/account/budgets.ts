import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { budgetStream, LimitName, RateName, RemoveBudget, SetBudget } from "#events/budget.ts";
import { requireAdmin } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import { commandFields } from "../base/commandFields.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { describeList, pageResponse, slicePage } from "../base/pageResponse.ts";
import { Budget, BudgetToSet, presentBudget, readLimits, SUBJECTS, uncountedLimit } from "./budgetShape.ts";
import { checkSubjectExists, checkSubjectShape, subjectsNamed } from "./budgetSubject.ts";

/** Budgets of one organization: all of them are read at once. */
const MAX_BUDGETS = 1_000;
const READ_MODELS = ["budgets", "usage"];

async function listAll(http: Http, organization: string): Promise<Budget[]> {
  await http.freshRead(READ_MODELS);
  const statuses = await http.budgets.fresh(organization);
  const rates = await http.rates.fresh(
    organization,
    statuses.map(({ budget }) => budget),
  );
  return statuses.map((status) => presentBudget(status, rates));
}

async function findBudget(http: Http, organization: string, name: string): Promise<Budget> {
  const subjects = subjectsNamed(http, organization, name);
  const found = (await listAll(http, organization)).find(({ subject }) => subjects.includes(subject));
  if (found) return found;
  throw new ApiError("budget_not_found", "No budget of this subject is set.", { param: "subject" });
}

const envelope = (request: FastifyRequest, subject: string) => ({
  ...commandFields(request, budgetStream(request.caller.organization_id, subject), ["budgets"]),
  // after the answer the budget holds in this process at once, and within seconds in all others
  requireProjected: true,
});

async function setBudget(
  http: Http,
  request: FastifyRequest,
  name: string,
  body: z.infer<typeof BudgetToSet>,
): Promise<Budget> {
  const { organization_id } = request.caller;
  const named = subjectsNamed(http, organization_id, name);
  checkSubjectShape(name, named[0]);
  const all = await listAll(http, organization_id);
  const subject = all.find((budget) => named.includes(budget.subject))?.subject ?? named[0];
  const limits = readLimits(body);
  if (Object.keys(limits).length === 0)
    throw new ApiError(
      null,
      `The budget has no limit: set one of ${[...RateName.options, ...LimitName.options].join(", ")}.`,
      { param: "cost_per_month" },
    );
  const uncounted = uncountedLimit(subject, limits);
  if (uncounted !== undefined)
    throw new ApiError(null, `${uncounted} cannot be limited for ${subject}: nothing of it counts there.`, {
      param: uncounted,
    });
  await checkSubjectExists(http, organization_id, subject);
  if (all.filter((budget) => budget.subject !== subject).length >= MAX_BUDGETS)
    throw new ApiError("too_many_budgets", `An organization may have ${MAX_BUDGETS} budgets.`, { param: "subject" });
  await http.send(SetBudget, { ...envelope(request, subject), data: { subject, limits, hard: body.hard } });
  return findBudget(http, organization_id, subject);
}

/** What may be spent, for owners and admins. */
export function budgetRoutes(app: App, http: Http): void {
  const onRequest = requireAdmin(http);
  const described = { tags: ["Accounts"], security: [{ session: [] }] };
  const params = z.object({
    subject: z.string().describe(SUBJECTS),
  });
  const one = { ...described, params };

  const listing = describeList(described, "List budgets and what was spent of them", Budget);
  app.get("/budgets", { onRequest, schema: listing }, async ({ caller, query }) => {
    const all = await listAll(http, caller.organization_id);
    return pageResponse(
      query,
      async (page) => slicePage(all, page),
      (budget) => budget,
    );
  });

  const reading = { ...one, summary: "Get a budget and what was spent of it", response: { 200: Budget } };
  app.get("/budgets/:subject", { onRequest, schema: reading }, ({ caller, params: { subject } }) =>
    findBudget(http, caller.organization_id, subject),
  );

  const setting = {
    ...one,
    summary: "Set a budget",
    description:
      "Replaces the limits of the subject, which must exist. What was spent in the current day and month counts.",
    body: BudgetToSet,
    response: { 200: Budget },
  };
  app.put("/budgets/:subject", { onRequest, schema: setting }, (request) =>
    setBudget(http, request, request.params.subject, request.body),
  );

  const removing = { ...one, summary: "Remove a budget", response: { 204: z.null() } };
  app.delete("/budgets/:subject", { onRequest, schema: removing }, async (request, reply) => {
    const { organization_id } = request.caller;
    const { subject } = await findBudget(http, organization_id, request.params.subject);
    await http.send(RemoveBudget, { ...envelope(request, subject), data: { subject } });
    await http.budgets.fresh(organization_id);
    return reply.code(204).send(null);
  });
}
