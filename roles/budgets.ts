import { budgetStream, NoteBudgetReached } from "#events/budget.ts";
import { newCommand, type Command, type CommandResult } from "#events/envelope.ts";
import { currentTrace } from "#events/spans.ts";
import { toTraceHeaders } from "#events/trace.ts";
import { ApiError } from "#http/base/errors.ts";
import { requireLogRoom, requireStorage } from "#http/base/storageLimits.ts";
import { openStored } from "./storedFiles.ts";
import { watchBudgets, type BudgetWatch, type RequestedAmounts } from "#projections/budgets/watch.ts";
import { describeLimit } from "#projections/budgets/limits.ts";
import type { FileDeps } from "#services/workflows/host/files.ts";
import type { StorePageDeps } from "#services/sources/storePage.ts";
import type { AdmitRun } from "#services/workflows/startRun.ts";
import { deploymentCredentials } from "./credentials.ts";
import type { Resources } from "./resources.ts";

/** Timeout for recording that a budget has reached a threshold. */
const REPORT_MS = 5_000;

/**
 * Watches the budgets. The roles of a process share one watch, because each reads the figures once a second. The process that first
 * notices that a budget is nearly used up records it.
 */
export const openBudgets = (
  { db, logger, rates, settings }: Pick<Resources, "db" | "logger" | "rates" | "settings">,
  send: (command: Command) => Promise<CommandResult>,
): BudgetWatch =>
  watchBudgets({
    db,
    deployment: deploymentCredentials(settings),
    report: (organization_id, data) =>
      send({
        ...newCommand(NoteBudgetReached.type, {
          stream: budgetStream(organization_id, data.subject),
          organization_id,
          request_id: "budget",
          timeout_ms: REPORT_MS,
          data,
        }),
        ...toTraceHeaders(currentTrace()),
      }),
    onError: (error) => logger.warn({ err: error }, "budgets not read or reported, retrying"),
    unsettled: rates.unsettled,
    reservationOf: rates.reservationOf,
  });

/** Limits for what the service adds by itself: counted for the organization and the project. */
const openOwnLimits =
  (budgets: BudgetWatch) => async (organization_id: string, project_id: string | null, wanted: RequestedAmounts) => {
    const spender = { organization_id, principal: "system", project_id, agent_id: null, user_mark: null };
    const answer = await budgets.admit(spender, wanted);
    return "refused" in answer ? { refused: describeLimit(answer.refused) } : answer;
  };

/** Limits for runs that the service starts by itself. */
export function openRunLimits(budgets: BudgetWatch): AdmitRun {
  const admit = openOwnLimits(budgets);
  return ({ organization_id, project_id }, runs = 1) => admit(organization_id, project_id, { runs });
}

/** The message of a limit that is reached, from the check of a request. */
async function findRefusal(check: () => Promise<void>): Promise<string | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return error.message;
    throw error;
  }
}

/** UTF-16 units of a prompt that is part of its event, and so counts there. */
const MAX_SHORT_PROMPT = 16 * 1024;

/** Finds why an organization may not store the prompt of a run's turn; undefined if it may. */
export function openPromptLimits(resources: Pick<Resources, "settings" | "db">) {
  const needs = { settings: resources.settings, stored: openStored(resources.db) };
  return async (organization: string, texts: string[]): Promise<string | undefined> => {
    const bytes = texts.reduce((sum, { length }) => sum + length, 0);
    if (bytes <= MAX_SHORT_PROMPT) return undefined;
    return findRefusal(() => requireStorage(needs, organization, { bytes, param: "The prompt" }));
  };
}

/** Limits for what workflow steps store: the organization's storage, and budgets. */
export function openContentLimits(resources: Resources, budgets: BudgetWatch): FileDeps["admitContent"] {
  const admit = openOwnLimits(budgets);
  const needs = { settings: resources.settings, stored: openStored(resources.db) };
  return async ({ organization_id, project_id }, { bytes, documents, isRead }) => {
    const refused = await findRefusal(async () => {
      requireLogRoom(resources, organization_id);
      await requireStorage(needs, organization_id, { bytes, param: "The content", isRead });
    });
    if (refused !== undefined) return { refused };
    return admit(organization_id, project_id, { bytes, documents, pages: 0 });
  };
}

/** Limits for pages of sources. */
export function openPageLimits(budgets: BudgetWatch): StorePageDeps["admit"] {
  const admit = openOwnLimits(budgets);
  return (organization_id, { bytes, documents }) => admit(organization_id, null, { bytes, documents, pages: 0 });
}
