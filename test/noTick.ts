import type { TickResult } from "#events/runParts.ts";

/** A tick without effect. */
export const NO_TICK: TickResult = {
  schedule: [],
  start: [],
  timers: [],
  children: [],
  runWaits: [],
  messageWaits: [],
  agentTurns: [],
  approvals: [],
  superseded: [],
  notes: [],
  warnings: [],
  logs: [],
  end: null,
};
