import { perform, type Action } from "./session.ts";

/** Limits of the organization that no run reaches: every turn reserves money, and nothing is refused. */
export const OUT_OF_REACH = { cost_per_month: "100000", tokens_per_month: 1_000_000_000_000 };

/** Limits an agent, which its turns reach and pass: that is an event, and refuses none. */
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

/** What the organization has spent of its limits, and what is held back. An organization without budgets has none. */
export async function readBudget(action: Action, organization_id: string, token: string): Promise<void> {
  await perform(action, {
    what: "audit.budget",
    asked: { organization_id },
    wanted: { method: "GET", path: "/api/budgets?limit=500", token },
    read: ({ body }) => ({
      limits: body.data.find(({ subject }: { subject: string }) => subject === "organization")?.limits ?? [],
    }),
  });
}
