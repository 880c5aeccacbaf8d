import { perform, type Action } from "./session.ts";

/** Limits that no run reaches: every turn reserves money, but nothing is refused. */
export const OUT_OF_REACH = {
  cost_per_week: "100000",
  cost_per_month: "100000",
  cost_total: "100000",
  tokens_per_month: 1_000_000_000_000,
  tokens_total: 1_000_000_000_000,
  requests_per_month: 1_000_000_000_000,
};

/** The same for what has no model. */
export const PAGES_OUT_OF_REACH = { pages_per_month: 1_000_000_000_000 };

/** Limits an agent so that its turns exceed the limit: that is recorded as an event, but refuses nothing. */
export async function setBudget(action: Action, token: string): Promise<void> {
  const tokens = action.random.int(1, 5_000);
  await perform(action, {
    what: "budget.set",
    asked: { tokens },
    wanted: {
      method: "PUT",
      path: `/api/budgets/agent:${action.session.agent}`,
      token,
      body: { tokens_per_month: tokens, hard: false },
    },
  });
}

/** The organization's spending and reservations by limit. None without budgets. */
export async function readBudget(action: Action, organization_id: string, token: string): Promise<void> {
  await perform(action, {
    what: "audit.budget",
    asked: { organization_id },
    wanted: { method: "GET", path: "/api/budgets?limit=500", token },
    // of all models, and of one
    read: ({ body }) => ({
      limits: body.data
        .filter(({ subject }: { subject: string }) => subject === "organization")
        .flatMap(({ model, limits }: { model: string | null; limits: object[] }) =>
          limits.map((limit) => ({ ...limit, model })),
        ),
    }),
  });
}
