import type { Reactor } from "./reactor.ts";

/** Starts a budget's alert run when one of its limits is reached. */
export const alertOnBudget: Reactor = {
  skips: ({ data }) => data.alert === undefined,
  react: ({ event, startAlertRun }) => startAlertRun(event),
};
