import type { TickResult } from "#events/runParts.ts";

/** A tick that has come to nothing. */
export const NO_TICK: TickResult = {
  schedule: [],
  start: [],
  timers: [],
  approvals: [],
  superseded: [],
  notes: [],
  warnings: [],
  logs: [],
  end: null,
};
