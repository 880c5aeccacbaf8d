import type { WorkflowRunner } from "#services/workflows/tick.ts";
import { openTicking } from "./ticking.ts";
import { openStepping } from "./stepping.ts";

interface Options {
  /** Processes that run steps; each runs many at once, because most of them wait. Ticks have one process with as many threads and one more. */
  processes: number;
  /** What an attempt at a step may compute, waiting left out, in milliseconds of processor time. */
  cpu_ms?: number;
  /** Processor time that ends a tick whose computing cannot be counted otherwise; a thread that hears nothing is ended after it. */
  tick_cpu_ms?: number;
}

const CPU_MS = 2_000;
const TICK_CPU_MS = 5_000;

/** Re-executes `run()` and runs steps in processes that it starts when the first one comes. */
export function openWorkflows({
  processes,
  cpu_ms = CPU_MS,
  tick_cpu_ms = TICK_CPU_MS,
}: Options): WorkflowRunner & { close(): Promise<void> } {
  const ticking = openTicking({ processes, cpu_ms: tick_cpu_ms });
  const stepping = openStepping({ processes, cpu_ms });
  return {
    tick: ticking.tick,
    forget: ticking.forget,
    step: async (call) => ticking.early(call) ?? stepping.step(call),
    async close() {
      await Promise.all([ticking.close(), stepping.close()]);
    },
  };
}
