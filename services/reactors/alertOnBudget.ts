import type { Reactor } from "./reactor.ts";

/** Starts the run that a budget names when a limit of it is reached. */
export const alertOnBudget: Reactor = {
  skips: ({ data }) => data.alert === undefined,
  react: ({ event, startAlertRun }) => startAlertRun(event),
};
