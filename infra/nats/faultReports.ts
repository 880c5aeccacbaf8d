import type { HealedFault } from "#events/healedFaults.ts";
import type { Connection } from "./connection.ts";
import type { Names } from "./names.ts";

/** Announces healed faults to all processes, because only http processes have metrics. */
export interface FaultReports {
  report(fault: HealedFault): void;
  /** Called for each fault that this or another process has healed. */
  onHealed(listener: (fault: HealedFault) => void): () => void;
}

export const createFaultReports = ({ pubSub }: Connection, names: Names): FaultReports => ({
  report: (fault) => pubSub.publish(names.healed, fault),
  onHealed: (listener) => pubSub.subscribe(names.healed, listener),
});
