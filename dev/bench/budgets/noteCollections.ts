import { appendFileSync } from "node:fs";
import { constants, PerformanceObserver, type PerformanceEntry } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";

/* Preloaded into the service: appends a byte to `collections` in DATA_DIR when a full garbage collection begins and ends. */

const FULL = new Set([constants.NODE_PERFORMANCE_GC_MAJOR, constants.NODE_PERFORMANCE_GC_INCREMENTAL]);

/** Node's types lack the detail of these entries. */
const kindOf = (entry: PerformanceEntry): number =>
  (entry as PerformanceEntry & { detail: { kind: number } }).detail.kind;

if (isMainThread && process.argv[1]?.endsWith("main.ts"))
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries())
      if (FULL.has(kindOf(entry))) appendFileSync(`${process.env["DATA_DIR"]}/collections`, ".");
  }).observe({ entryTypes: ["gc"] });
