import { availableParallelism, loadavg } from "node:os";

const EVERY_MS = 5_000;

/** Describes a run's load averages: a slow recovery says little if other programs used the cores. */
export function describeLoads(loads: readonly number[], cores: number): string {
  const sorted = loads.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))]!.toFixed(1);
  return `machine: ${cores} cores, load average ${at(0)} to ${at(1)}, median ${at(0.5)}`;
}

/** Watches the load of the machine. `end` describes it. */
export function watchMachine(): { end(): string } {
  const look = () => loadavg()[0]!;
  const loads = [look()];
  const timer = setInterval(() => loads.push(look()), EVERY_MS);
  return {
    end() {
      clearInterval(timer);
      return describeLoads(loads, availableParallelism());
    },
  };
}
