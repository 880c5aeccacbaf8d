import { attendAtOnce } from "./attendAtOnce.ts";
import type { Reactor } from "./reactor.ts";

/** Cancels the child runs of a run that has ended, and answers the runs that wait for its end. If it is interrupted, the sweep continues. */
export const attendOnSettling: Reactor = {
  ...attendAtOnce,
  skips: (event) => event.data.settles !== true,
};
