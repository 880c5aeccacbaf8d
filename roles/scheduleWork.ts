import type { Handle } from "#services/handle.ts";
import { createSchedules } from "#services/schedules/schedules.ts";
import type { ScriptStore } from "#services/workflows/script.ts";
import type { Resources } from "./resources.ts";

/** The work of a services process on schedules: it starts runs at their due times. */
export const openScheduleWork = (
  { log, keyring, schemas, worker, logger }: Resources,
  handle: Handle,
  { scripts }: { scripts: ScriptStore },
) =>
  createSchedules({
    log,
    keyring,
    schemas,
    scripts,
    worker,
    handle,
    onError: (error, stream) => logger.warn({ err: error, stream }, "scheduled run not started, retrying"),
  });
