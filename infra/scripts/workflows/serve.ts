import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import type { Report, Routed, Routing } from "./messages.ts";

/** QuickJS has its own memory beside this. */
const LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 };

// TypeScript knows WebAssembly as a thing of browsers
const { Module } = Reflect.get(globalThis, "WebAssembly") as { Module: new (bytes: Uint8Array) => never };

const tell = (routing: Routing): void => void process.send?.(routing);

/** Runs workflows in threads, as the parent process orders, until the parent lets go or dies. */
export function serveWorkflows(what: "ticks" | "steps", cpu_ms: number): void {
  const wasm = new Module(readFileSync(createRequire(import.meta.url).resolve("quickjs-wasi/quickjs.wasm")));
  const file = new URL(what === "ticks" ? "./tickThread.ts" : "./stepThread.ts", import.meta.url);
  const threads = new Map<number, Worker>();

  function start(thread: number): Worker {
    const worker = new Worker(file, { workerData: { wasm, cpu_ms }, resourceLimits: LIMITS });
    threads.set(thread, worker);
    const lose = (lost: string): void => {
      if (threads.get(thread) !== worker) return;
      threads.delete(thread);
      tell({ thread, lost, at: null });
    };
    worker.on("message", (report: Report) => tell({ thread, report }));
    worker.on("error", (error: Error) => lose(error.message));
    worker.on("exit", () => lose("It ended."));
    return worker;
  }

  // A terminal's Ctrl-C reaches the whole group, but the parent still waits for what is being run.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
  process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
  process.on("message", (routed: Routed) => {
    const worker = threads.get(routed.thread);
    if ("order" in routed) return (worker ?? start(routed.thread)).postMessage(routed.order);
    threads.delete(routed.thread);
    void worker?.terminate();
  });
}
