import type { HealedFault } from "#events/healedFaults.ts";
import type { Connection } from "./connection.ts";
import type { Names } from "./names.ts";
import type { PubSub } from "./pubSub.ts";

/** Announces healed faults to all processes, because only http processes have metrics. */
export interface FaultReports {
  report(fault: HealedFault): void;
  /** Called for each fault that this or another process has healed. */
  onHealed(listener: (fault: HealedFault) => void): () => void;
}

/** Faults of this process that a listener may have missed. After a power cut, a process heals consumers before its metrics exist. */
const reported = new WeakMap<PubSub, HealedFault[]>();
const MAX_KEPT = 100;
/** Delay of missed faults, so that Prometheus has read the counter before: an alert sees only increases. */
const MISSED_MS = 60_000;

export const createFaultReports = ({ pubSub }: Pick<Connection, "pubSub">, names: Names): FaultReports => ({
  report(fault) {
    reported.set(pubSub, [...(reported.get(pubSub) ?? []), fault].slice(-MAX_KEPT));
    pubSub.publish(names.healed, fault);
  },
  onHealed(listener) {
    const missed = reported.get(pubSub) ?? [];
    const timer = setTimeout(() => missed.forEach(listener), MISSED_MS).unref();
    const unsubscribe = pubSub.subscribe(names.healed, listener);
    return () => {
      clearTimeout(timer);
      unsubscribe();
    };
  },
});
