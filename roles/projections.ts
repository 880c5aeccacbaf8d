import { createProjector } from "#infra/postgres/projector.ts";
import { keepSummaries } from "#infra/postgres/summaries.ts";
import { documents } from "#projections/documents/project.ts";
import { projections } from "#projections/index.ts";
import type { Opened } from "./open.ts";
import { startScrubbing } from "./scrubbing.ts";

/** The role that follows the log into the read models, counts what collections hold, and overwrites what was deleted. */
export async function startProjections(opened: Opened) {
  const { pool, db, log, bus, logger } = opened;
  const projector = createProjector({ pool, log, hints: bus.hints, projections, logger });
  await projector.start();
  const onError = (error: unknown) => logger.warn({ err: error }, "the summaries could not be refreshed");
  const summaries = keepSummaries({ db, types: Object.keys(documents.on), onError });
  const scrubbing = startScrubbing(opened);
  return {
    async stop(): Promise<void> {
      await Promise.all([scrubbing.stop(), summaries.stop()]);
      await projector.stop();
    },
  };
}
