import { eventDefinitions } from "#events/index.ts";
import { lead } from "#infra/postgres/leader.ts";
import { keepScrubbed, type ScrubOptions } from "#infra/postgres/scrub.ts";
import { projections } from "#projections/index.ts";
import type { Opened } from "./open.ts";

const ENDS = /(Deleted|Removed|Refused|Forgotten|Expired|Replaced)$/;

export const scrubbingOf = ({ pool, db, log, bus, logger, settings }: Opened): ScrubOptions => ({
  pool,
  db,
  log,
  projections,
  logger,
  types: [...eventDefinitions.keys()].filter((type) => ENDS.test(type)),
  days: settings.SCRUB_DAYS,
  clearFrames: () => bus.clearFrames(),
});

/** One process of the deployment sees to it that what was deleted leaves the files, too. */
export function startScrubbing(opened: Opened) {
  const options = scrubbingOf(opened);
  if (options.days === 0) return { stop: async () => {} };
  return lead(
    opened.pool,
    "scrubbing",
    (signal) => keepScrubbed(options, signal),
    (err) => opened.logger.warn({ err }, "whose turn it is to overwrite could not be told"),
  );
}
