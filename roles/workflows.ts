import { schemaCheck } from "#http/workflows/jsonSchema.ts";
import { failpoint } from "#infra/failpoint.ts";
import { hasPassed } from "#projections/passed.ts";
import { threadsOfRun } from "#projections/turns/query.ts";
import type { Handle } from "#services/handle.ts";
import { sendTo } from "#services/send.ts";
import type { AttemptDeps } from "#services/workflows/attempt.ts";
import { createRuns } from "#services/workflows/runs.ts";
import { openScriptStore } from "#services/workflows/script.ts";
import type { WorkflowRunner } from "#services/workflows/tick.ts";
import type { Opened } from "./open.ts";

/** What a services process does for workflows: coordinates runs. */
export function createWorkflowWork(
  { db, log, blobs, keyring, worker, logger }: Opened,
  handle: Handle,
  { runner, openHost }: { runner: WorkflowRunner; openHost: AttemptDeps["openHost"] },
) {
  const sealed = { blobs, keyring, dataKeys: log };
  return createRuns({
    ...sealed,
    log,
    worker,
    send: sendTo(handle, worker),
    runner,
    openHost,
    misfit(schema, value) {
      const found = schemaCheck(schema)(value);
      return found && `${found.pointer || "/"}: ${found.message}`;
    },
    scripts: openScriptStore({ ...sealed, log }),
    threadsOf: async (organization, run_id, position) =>
      (await hasPassed(db, "turns", position)) ? threadsOfRun(db, organization, run_id) : undefined,
    failpoint,
    onError: (error, stream) => logger.warn({ err: error, stream }, "a run could not go on, it is tried again"),
  });
}
