import type { Handle } from "#services/handle.ts";
import { createSchedules } from "#services/schedules/schedules.ts";
import type { ScriptStore } from "#services/workflows/script.ts";
import { openRunLimits } from "./budgets.ts";
import type { Resources } from "./resources.ts";

/** The work of a services process on schedules: it starts runs at their due times. */
export const openScheduleWork = (resources: Resources, handle: Handle, { scripts }: { scripts: ScriptStore }) => {
  const { log, keyring, schemas, worker, logger } = resources;
  return createSchedules({
    log,
    keyring,
    schemas,
    scripts,
    admitRun: openRunLimits(resources, handle),
    worker,
    handle,
    onError: (error, stream) => logger.warn({ err: error, stream }, "scheduled run not started, retrying"),
  });
};
