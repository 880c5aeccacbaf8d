import { z } from "zod";
import { requireCredential } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { markUser } from "../base/limits.ts";
import { listSchema, PageQuery } from "../base/pagination.ts";
import { sliceResponse } from "../base/pageResponse.ts";
import { Budget, presentBudgets } from "./budgetShape.ts";

const Query = PageQuery.extend({
  user: z.string().min(1).optional().describe("With the limits of this external user: `user` of requests."),
});

const Limit = Budget.omit({ created_at: true, updated_at: true }).meta({ title: "Limit" });

/** The caller's own remaining limits, for keys and people. Limits of others are shown to administrators only. */
export function ownLimitRoutes(app: App, http: Http): void {
  const schema = {
    tags: ["Accounts"],
    security: [{ key: [] }, { session: [] }] as Record<string, string[]>[],
    summary: "List the limits that concern the caller, and what is left of them",
    description:
      "The budgets of the organization, of the key or person, of the key's project and of the external user. Figures are at most a second old.",
    querystring: Query,
    response: { 200: listSchema(Limit) },
  };
  app.get("/limits", { onRequest: requireCredential(http), schema }, async ({ caller, query }) => {
    const { organization_id, principal, project_id } = caller;
    const user_mark = markUser(http, organization_id, query.user);
    const spender = { organization_id, principal, project_id, agent_id: null, user_mark };
    const statuses = await http.budgets.statusesFor(spender);
    const rates = await http.rates.statusesFor(
      statuses.map(({ budget }) => budget),
      spender,
    );
    const budgets = await presentBudgets(statuses, rates);
    return sliceResponse(query, budgets, ({ created_at: _, updated_at: __, ...limits }) => limits);
  });
}
