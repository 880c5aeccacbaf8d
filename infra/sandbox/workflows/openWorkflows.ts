import type { WorkflowRunner } from "#services/workflows/tick.ts";
import { openStepRunner } from "./stepRunner.ts";
import { openTickRunner } from "./tickRunner.ts";

interface WorkflowsOptions {
  /** Number of processes for steps, each of which runs many at the same time. Ticks have one process, with one thread more than this. */
  processes: number;
  /** Maximum CPU milliseconds of an attempt at a step. */
  cpu_ms?: number;
  /** Maximum CPU milliseconds of a tick, and of one native operation, which no interrupt can reach. */
  tick_cpu_ms?: number;
}

const CPU_MS = 2_000;
const TICK_CPU_MS = 5_000;

/** Runs ticks and steps of workflows in processes that start on demand. */
export function openWorkflows({
  processes,
  cpu_ms = CPU_MS,
  tick_cpu_ms = TICK_CPU_MS,
}: WorkflowsOptions): WorkflowRunner & { close(): Promise<void> } {
  const ticks = openTickRunner({ processes, cpu_ms: tick_cpu_ms });
  const steps = openStepRunner({ processes, cpu_ms });
  return {
    tick: ticks.tick,
    forget: ticks.forget,
    step: async (call) => ticks.speculatedStep(call) ?? steps.step(call),
    async close() {
      await Promise.all([ticks.close(), steps.close()]);
    },
  };
}
