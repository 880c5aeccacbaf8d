import type { FastifyRequest } from "fastify";
import { currentTime } from "#events/clock.ts";
import { nameSubject } from "#events/budget.ts";
import { describeLimit, type SpentLimit } from "#projections/budgets/limits.ts";
import type { Spender } from "#projections/budgets/subjects.ts";
import type { BudgetWatch, RequestedAmounts } from "#projections/budgets/watch.ts";
import type { Caller } from "./caller.ts";
import type { Http } from "./deps.ts";
import { ApiError } from "./errors.ts";

/**
 * Maximum collections of an organization, and of the names in a search or a chat: a search sends the ids of all its collections to
 * the index, once for each word.
 */
export const MAX_COLLECTIONS = 1_000;

/**
 * Maximum length of `user:<value>`. Requests do not limit `user`, and a signed token has thousands of characters. There must be a
 * limit, because the value is hashed once for each key and agent of the organization.
 */
export const MAX_SUBJECT = 8_000;

/** The mark (keyed hash) of a user in its organization; null without a user. */
export const markUser = <User extends string | undefined>(
  { keyring }: Pick<Http, "keyring">,
  organization: string,
  user: User,
): User extends string ? string : string | null =>
  (user === undefined ? null : keyring.keyedHash("user", `${organization} ${user}`)) as string;

/** The subjects whose limits count a caller's upload. */
export const uploadSpender = (
  { organization_id, principal, project_id }: Caller,
  user_mark: string | null = null,
): Spender => ({ organization_id, principal, project_id, agent_id: null, user_mark });

export const warningHeader = ({ subject, name, spent, at_most }: SpentLimit) => ({
  "x-budget-warning": `${nameSubject(subject)}; ${name}; ${spent} of ${at_most}`,
});

/** 402 `budget_exceeded`, or 429 `rate_limited` for a limit that resets by itself. */
export const limitReached = (limit: SpentLimit): ApiError =>
  limit.name === "concurrent_runs"
    ? new ApiError("rate_limited", describeLimit(limit), { isFinal: limit.at_most === "0" })
    : new ApiError("budget_exceeded", describeLimit(limit), {
        ...(limit.ends_at && { retryAfterMs: Math.max(1, limit.ends_at.getTime() - currentTime()) }),
      });

/** What a request would add to the counts, and for whom. */
export interface AdmissionRequest {
  request: Pick<FastifyRequest, "addHeaders">;
  spender: Spender;
  wanted: RequestedAmounts;
}

/** Runs `create` if the limits leave room for it. Throws 402 `budget_exceeded` and 429 `rate_limited`. */
export async function runWithinLimits<R extends { position: number; isNew?: boolean }>(
  http: { budgets: Pick<BudgetWatch, "admit"> },
  { request, spender, wanted }: AdmissionRequest,
  create: () => Promise<R>,
): Promise<R> {
  const answer = await http.budgets.admit(spender, wanted);
  if ("refused" in answer) throw limitReached(answer.refused);
  const { admitted } = answer;
  try {
    const created = await create();
    if (created.isNew === false) admitted.withdraw();
    else admitted.settle(created.position);
    const reached = admitted.reached();
    if (reached) request.addHeaders(warningHeader(reached));
    return created;
  } catch (error) {
    // without an answer the command may have succeeded, so the count stays until the read model shows the outcome
    if (error instanceof ApiError && error.status < 500) admitted.withdraw();
    throw error;
  }
}
