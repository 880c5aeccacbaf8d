import { monitorEventLoopDelay } from "node:perf_hooks";
import { Gauge, type Registry } from "prom-client";

const RESOLUTION_MS = 10;
const NS_PER_SECOND = 1e9;

/** Measures how late the event loop runs its timers, since the metrics were last read. */
export function measureEventLoopDelay(registry: Registry): void {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  // the histogram holds the time between two ticks, so the timer's own period is subtracted
  const toSeconds = (ns: number): number => Math.max(0, ns / NS_PER_SECOND - RESOLUTION_MS / 1_000);
  new Gauge({
    name: "event_loop_delay_seconds",
    help: "How late timers ran since the last reading, by quantile; 1 is the longest delay",
    labelNames: ["quantile"],
    registers: [registry],
    collect() {
      // there is no sample right after a reset
      if (delays.count === 0) return;
      this.set({ quantile: "0.5" }, toSeconds(delays.percentile(50)));
      this.set({ quantile: "0.99" }, toSeconds(delays.percentile(99)));
      this.set({ quantile: "1" }, toSeconds(delays.max));
      delays.reset();
    },
  });
}
