import { createProjector } from "#infra/postgres/projector.ts";
import { projections } from "#projections/index.ts";
import type { Opened } from "./open.ts";

/** The role that follows the log into the read models. */
export async function startProjections({ pool, log, bus, logger }: Opened) {
  const projector = createProjector({ pool, log, hints: bus.hints, projections, logger });
  await projector.start();
  return projector;
}
