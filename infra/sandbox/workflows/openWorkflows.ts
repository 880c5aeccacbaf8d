import type { WorkflowRunner } from "#services/workflows/tick.ts";
import { openStepRunner } from "./stepRunner.ts";
import { openTickRunner } from "./tickRunner.ts";

interface WorkflowsOptions {
  /** Processes for steps, each of which runs many at once. Ticks have one process with one thread more than this. */
  processes: number;
  /** CPU time that an attempt at a step may compute, in milliseconds. */
  cpu_ms?: number;
  /** CPU time that a tick may compute, in milliseconds; also that of one native operation, which no interrupt reaches. */
  tick_cpu_ms?: number;
}

const CPU_MS = 2_000;
const TICK_CPU_MS = 5_000;

/** Runs ticks and steps of workflows in processes that start with the first one. */
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
