import { eventDefinitions } from "#events/index.ts";
import { runAsLeader } from "#infra/postgres/leader.ts";
import { runScrubbing, type ScrubOptions } from "#infra/postgres/scrub.ts";
import { projections } from "#projections/index.ts";
import type { Resources } from "./resources.ts";

/** Types of events after which data is deleted. */
const DELETING_EVENTS = /(Deleted|Removed|Refused|Forgotten|Expired|Replaced)$/;

export const scrubOptions = ({ pool, db, log, bus, logger, settings }: Resources): ScrubOptions => ({
  pool,
  db,
  log,
  projections,
  logger,
  types: [...eventDefinitions.keys()].filter((type) => DELETING_EVENTS.test(type)),
  days: settings.SCRUB_DAYS,
  clearFrames: () => bus.clearFrames(),
});

/** Overwrites deleted data in the servers' files, in one process of the deployment. */
export function startScrubbing(resources: Resources) {
  const options = scrubOptions(resources);
  if (options.days === 0) return { stop: async () => {} };
  return runAsLeader(
    resources.pool,
    "scrubbing",
    (signal) => runScrubbing(options, signal),
    (err) => resources.logger.warn({ err }, "scrub leader election failed"),
  );
}
