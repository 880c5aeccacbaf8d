import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { newBoard, readBoard } from "./board.ts";
import type { Loss, Report, Routed, Routing, ThreadData } from "./messages.ts";

/** QuickJS has its own memory beside this. */
const LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 };
const LOOK_MS = 250;
/** Beyond what a script may compute: for what lies between two looks. */
const GRACE_MS = 500;
/** What the scripts of all threads may hold; the tenant that holds the most gives way then. In bytes. */
const MOST = 768 * 1024 * 1024;

const FILES = {
  ticks: new URL("./tickThread.ts", import.meta.url),
  steps: new URL("./stepThread.ts", import.meta.url),
};

// TypeScript knows WebAssembly as a thing of browsers
const { Module } = Reflect.get(globalThis, "WebAssembly") as { Module: new (bytes: Uint8Array) => never };

interface Thread {
  worker: Worker;
  tenant: string;
  shared: SharedArrayBuffer;
  /** What it was doing when it was looked at first, and the processor time that it had used then. */
  seen: { slice: number; before: number } | undefined;
}

const tell = (routing: Routing): void => void process.send?.(routing);

/**
 * Runs workflows in threads, as the parent process orders, until the parent lets go or dies. This thread runs no script, so
 * that it always hears, and ends a thread whatever the script in it does.
 */
export function serveWorkflows(what: "ticks" | "steps", cpu_ms: number): void {
  const wasm = new Module(readFileSync(createRequire(import.meta.url).resolve("quickjs-wasi/quickjs.wasm")));
  const threads = new Map<number, Thread>();

  function drop(n: number, lost: Loss, at: number | null = null): void {
    const thread = threads.get(n);
    if (!threads.delete(n)) return;
    tell({ thread: n, lost, at });
    void thread!.worker.terminate();
  }

  function start(n: number, tenant: string): Thread {
    const shared = newBoard();
    const workerData: ThreadData = { wasm, cpu_ms, shared };
    const worker = new Worker(FILES[what], { workerData, resourceLimits: LIMITS });
    const thread: Thread = { worker, tenant, shared, seen: undefined };
    threads.set(n, thread);
    const failed = (): void => {
      if (threads.get(n) === thread) drop(n, "failed", readBoard(shared).id);
    };
    worker.on("message", (report: Report) => tell({ thread: n, report }));
    worker.on("error", failed);
    worker.on("exit", failed);
    return thread;
  }

  /** Native operations hear no interrupt: a thread in one is ended from here. */
  async function look(n: number, thread: Thread): Promise<void> {
    const { id, slice, isAhead } = readBoard(thread.shared);
    if (id === null) return void (thread.seen = undefined);
    const { user, system } = await thread.worker.cpuUsage();
    const used = (user + system) / 1_000;
    if (thread.seen?.slice !== slice) thread.seen = { slice, before: used };
    else if (used - thread.seen.before > (isAhead ? 0 : cpu_ms) + GRACE_MS)
      drop(n, isAhead ? "ahead" : "computing", id);
  }

  /** One tenant's scripts are not to take the memory of all. */
  function makeRoom(): void {
    const held = [...threads].map(([n, { tenant, shared }]) => ({ n, tenant, bytes: readBoard(shared).bytes }));
    const total = held.reduce((sum, { bytes }) => sum + bytes, 0);
    if (total <= MOST) return;
    const tenants = Map.groupBy(held, ({ tenant }) => tenant);
    const sums = [...tenants.values()].map((all) => ({ all, sum: all.reduce((sum, { bytes }) => sum + bytes, 0) }));
    const [{ all } = { all: held }] = sums.toSorted((a, b) => b.sum - a.sum);
    drop(all.toSorted((a, b) => b.bytes - a.bytes)[0]!.n, "memory");
  }
  setInterval(() => {
    makeRoom();
    // one that has ended meanwhile says so itself
    for (const [n, thread] of threads) look(n, thread).catch(() => {});
  }, LOOK_MS);

  // A terminal's Ctrl-C reaches the whole group, but the parent still waits for what is being run.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
  process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
  process.on("message", (routed: Routed) => {
    const thread = threads.get(routed.thread);
    if ("end" in routed) {
      threads.delete(routed.thread);
      return void thread?.worker.terminate();
    }
    const { order, tenant } = routed;
    const begins = order.kind === "tick" || order.kind === "step";
    if (!begins) return thread?.worker.postMessage(order);
    const taken = thread ?? start(routed.thread, tenant);
    taken.tenant = tenant;
    taken.worker.postMessage(order);
  });
}
