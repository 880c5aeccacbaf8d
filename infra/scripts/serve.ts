import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import type { Order, Report } from "./messages.ts";
import { computedTooLong } from "./vm.ts";

/** While one makes its next VM (0.8 ms), another is there for the next call. */
const AT_FIRST = 2;
const LOOK_MS = 250;
/** Beyond what a script may compute: for what lies between two looks, and for making its VM. */
const GRACE_MS = 1_000;
/** QuickJS has its own memory beside this; what is here are strings on their way. */
const LIMITS = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8, stackSizeMb: 4 };

// TypeScript knows WebAssembly as a thing of browsers
const { Module } = Reflect.get(globalThis, "WebAssembly") as { Module: new (bytes: Uint8Array) => never };

interface Thread {
  worker: Worker;
  /** What it runs; undefined while it is idle. */
  id: number | undefined;
  /** Processor time that it had used when it was first looked at in this run. */
  before: number | undefined;
}

const tell = (report: Report): void => {
  process.send?.(report);
};
const failed = (id: number, message: string): void =>
  tell({ kind: "failed", id, message, line: null, column: null, broken: true });

/**
 * Runs what the parent process orders, until the parent lets go or dies. Each script has a thread to itself, which can be
 * ended whatever the script does; this thread runs none, so that it always hears.
 */
export function serveScripts(cpu_ms: number): void {
  const wasm = new Module(readFileSync(createRequire(import.meta.url).resolve("quickjs-wasi/quickjs.wasm")));
  /** Those that have rested longest come first: they have their next VM ready. */
  const threads = new Set<Thread>();
  const running = (id: number): Thread | undefined => [...threads].find((thread) => thread.id === id);

  function drop(thread: Thread, message: string): void {
    if (!threads.delete(thread)) return;
    if (thread.id !== undefined) failed(thread.id, message);
    void thread.worker.terminate();
  }

  function rest(thread: Thread): void {
    thread.id = undefined;
    threads.delete(thread);
    threads.add(thread);
  }

  function start(): Thread {
    const worker = new Worker(new URL("./thread.ts", import.meta.url), {
      workerData: { wasm, cpu_ms },
      resourceLimits: LIMITS,
    });
    const thread: Thread = { worker, id: undefined, before: undefined };
    threads.add(thread);
    worker.on("message", (report: Report) => {
      if (report.id !== thread.id) return;
      if (report.kind !== "ask") rest(thread);
      if (report.kind === "failed" && report.broken) drop(thread, "");
      tell(report);
    });
    worker.on("error", (error: Error) => drop(thread, `The script could not be run: ${error.message}`));
    worker.on("exit", () => drop(thread, "The script could not be run."));
    return thread;
  }

  function run(order: Extract<Order, { kind: "run" | "inspect" }>): void {
    const thread = [...threads].find(({ id }) => id === undefined) ?? start();
    thread.id = order.id;
    thread.before = undefined;
    thread.worker.postMessage(order);
  }

  /** Native operations hear no interrupt: a thread in one is ended from here. */
  async function look(thread: Thread): Promise<void> {
    const { id } = thread;
    const { user, system } = await thread.worker.cpuUsage();
    if (thread.id !== id) return;
    const used = (user + system) / 1_000;
    thread.before ??= used;
    if (used - thread.before > cpu_ms + GRACE_MS) drop(thread, computedTooLong(cpu_ms).message);
  }
  setInterval(() => {
    // one that has ended meanwhile says so itself
    for (const thread of threads) if (thread.id !== undefined) look(thread).catch(() => {});
  }, LOOK_MS);

  // A terminal's Ctrl-C reaches the whole group, but the parent still waits for what is being run.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
  process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
  process.on("message", (order: Order) => {
    if (order.kind === "run" || order.kind === "inspect") return run(order);
    const thread = running(order.id);
    if (!thread) return;
    if (order.kind === "answer") return thread.worker.postMessage(order);
    thread.id = undefined;
    drop(thread, "");
  });
  for (let n = 0; n < AT_FIRST; n++) start();
}
