import { describeLimit, type ReachedLimit } from "#projections/budgets/watch.ts";
import type { Caller } from "../auth/caller.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import type { TurnRequest } from "./turnRequest.ts";

/** The project that a turn is counted for: that of the key, else that of the agent. */
export const projectOf = (caller: Pick<Caller, "project_id">, { project_id = null }: TurnRequest): string | null =>
  caller.project_id ?? project_id;

/** Throws 402 `budget_exceeded`; gives the text of the warning header when a budget is used to 80 % or more. */
export async function checkBudgets(
  { budgets }: Pick<Http, "budgets">,
  caller: Caller,
  request: TurnRequest,
): Promise<string | undefined> {
  const { organization_id, principal } = caller;
  const project_id = projectOf(caller, request);
  const agent_id = request.agent?.agent_id ?? null;
  const reached = await budgets.check({ organization_id, principal, project_id, agent_id });
  if (reached?.refuses) throw budgetExceeded(reached);
  return reached && `${reached.subject}; ${reached.name}; ${reached.spent} of ${reached.at_most}`;
}

const budgetExceeded = (reached: ReachedLimit) =>
  new ApiError("budget_exceeded", describeLimit(reached), {
    retryAfterMs: Math.max(1, reached.ends_at.getTime() - Date.now()),
  });
