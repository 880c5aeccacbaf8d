import { createProjector } from "#infra/postgres/projector.ts";
import { keepSummaries } from "#infra/postgres/summaries.ts";
import { documents } from "#projections/documents/project.ts";
import { projections } from "#projections/index.ts";
import type { Opened } from "./open.ts";

/** The role that follows the log into the read models, and counts what collections hold. */
export async function startProjections({ pool, db, log, bus, logger }: Opened) {
  const projector = createProjector({ pool, log, hints: bus.hints, projections, logger });
  await projector.start();
  const onError = (error: unknown) => logger.warn({ err: error }, "the summaries could not be refreshed");
  const summaries = keepSummaries({ db, types: Object.keys(documents.on), onError });
  return {
    async stop(): Promise<void> {
      await summaries.stop();
      await projector.stop();
    },
  };
}
