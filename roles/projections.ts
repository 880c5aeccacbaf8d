import { once } from "node:events";
import { createProjector } from "#infra/postgres/projector.ts";
import { startSummaries } from "#infra/postgres/summaries.ts";
import { documents } from "#projections/documents/project.ts";
import { projections } from "#projections/index.ts";
import type { Resources } from "./resources.ts";
import { startScrubbing } from "./scrubbing.ts";

/**
 * The role that projects the log into the read models, refreshes the summaries of collections, and scrubs deleted data. Resolves when
 * the read models are built, or when `stopping` aborts: a build takes minutes, and beside a leader of another version it never ends.
 */
export async function startProjectionsRole(resources: Resources, stopping: AbortSignal) {
  const { pool, db, log, bus, logger } = resources;
  const projector = createProjector({ pool, log, hints: bus.hints, projections, logger });
  const built = projector.start();
  if (!stopping.aborted) await Promise.race([built, once(stopping, "abort")]);
  const onError = (error: unknown) => logger.warn({ err: error }, "collection summaries not refreshed");
  const summaries = startSummaries({ db, types: Object.keys(documents.on), onError });
  const scrubbing = startScrubbing(resources);
  return {
    async stop(): Promise<void> {
      await Promise.all([scrubbing.stop(), summaries.stop()]);
      await projector.stop();
    },
  };
}
