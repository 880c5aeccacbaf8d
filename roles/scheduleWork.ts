import type { PublicEvent } from "#events/ports.ts";
import type { Handle } from "#services/handle.ts";
import { startAlertRun } from "#services/alertRuns.ts";
import { createSchedules } from "#services/schedules/schedules.ts";
import type { ScriptStore } from "#services/workflows/script.ts";
import type { BudgetWatch } from "#projections/budgets/watch.ts";
import { openRunLimits } from "./budgets.ts";
import type { Resources } from "./resources.ts";

interface ScheduleOptions {
  scripts: ScriptStore;
  budgets: BudgetWatch;
}

/** A services process's work on schedules: starts runs at their due times. */
export const openScheduleWork = (resources: Resources, handle: Handle, { scripts, budgets }: ScheduleOptions) => {
  const { log, keyring, schemas, worker, logger, clock, freeSpace, logLimits } = resources;
  return createSchedules({
    log,
    freeSpace,
    logLimits,
    now: clock.now,
    keyring,
    schemas,
    scripts,
    admitRun: openRunLimits(budgets),
    worker,
    handle,
    onError: (error, stream) => logger.warn({ err: error, stream }, "scheduled run not started, retrying"),
  });
};

/** Starts the alert runs of budgets. */
export const openAlertWork = (resources: Resources, handle: Handle, { scripts, budgets }: ScheduleOptions) => {
  const { log, keyring, schemas, worker, logger, logLimits } = resources;
  const admitRun = openRunLimits(budgets);
  const onRefused = ({ code, message }: { code: string; message: string }, { organization_id, stream }: PublicEvent) =>
    logger.warn({ code, reason: message, organization_id, stream }, "run of a reached budget refused");
  return (event: PublicEvent) =>
    startAlertRun({ log, keyring, schemas, scripts, admitRun, logLimits, worker, handle, onRefused }, event);
};
