import { watchClock } from "#infra/postgres/clock.ts";
import type { Resources } from "./resources.ts";

/** Watches whether the clock of this process agrees with the database's. */
export const watchOwnClock = ({ db, logger, settings, bus }: Resources) =>
  watchClock({
    db,
    logger,
    max_offset_ms: settings.CLOCK_OFFSET_SECONDS * 1_000,
    onOff: () => bus.faults.report("clock_off"),
  });
