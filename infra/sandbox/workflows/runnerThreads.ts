import { Worker } from "node:worker_threads";
import type { QuickJsWasm } from "../vm/wasm.ts";
import type { Report, RoutedOrder, ThreadData, ThreadLoss, ThreadReport } from "./messages.ts";
import { exceededLimit, threadToEvict, type SliceStart } from "./threadLimits.ts";
import { newThreadStatus, readThreadStatus } from "./threadStatus.ts";

/** QuickJS has memory of its own; a thread's heap holds histories, and text on its way in and out. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 };
/** Total memory of the VMs of all threads. */
const MAX_VM_BYTES = 768 * 1024 * 1024;

const PROGRAMS = {
  ticks: new URL("./tickThread.ts", import.meta.url),
  steps: new URL("./stepThread.ts", import.meta.url),
};

interface RunnerThread {
  worker: Worker;
  tenant: string;
  status: SharedArrayBuffer;
  /** Undefined while it is not computing. */
  sliceStart: SliceStart | undefined;
}

interface RunnerThreadsOptions {
  what: "ticks" | "steps";
  wasm: QuickJsWasm;
  cpu_ms: number;
  send(report: ThreadReport): void;
}

/** The threads of a process that runs ticks or steps. */
export function createRunnerThreads({ what, wasm, cpu_ms, send }: RunnerThreadsOptions) {
  const threads = new Map<number, RunnerThread>();

  function end(n: number, lost: ThreadLoss, at: number | null = null): void {
    const thread = threads.get(n);
    if (!threads.delete(n)) return;
    send({ thread: n, lost, at });
    void thread!.worker.terminate();
  }

  function start(n: number, tenant: string): RunnerThread {
    const status = newThreadStatus();
    const workerData: ThreadData = { wasm, cpu_ms, status };
    const worker = new Worker(PROGRAMS[what], { workerData, resourceLimits: RESOURCE_LIMITS });
    const thread: RunnerThread = { worker, tenant, status, sliceStart: undefined };
    threads.set(n, thread);
    const failed = (): void => {
      if (threads.get(n) === thread) end(n, "failed", readThreadStatus(status).id);
    };
    worker.on("message", (report: Report) => send({ thread: n, report }));
    worker.on("error", failed);
    worker.on("exit", failed);
    return thread;
  }

  async function checkCpu(n: number, thread: RunnerThread): Promise<void> {
    const status = readThreadStatus(thread.status);
    if (status.id === null) return void (thread.sliceStart = undefined);
    const { user, system } = await thread.worker.cpuUsage();
    const cpuMs = (user + system) / 1_000;
    if (thread.sliceStart?.slice !== status.slice) thread.sliceStart = { slice: status.slice, cpuMs };
    const loss = exceededLimit(status, thread.sliceStart, cpuMs, cpu_ms);
    if (loss) end(n, loss, status.id);
  }

  return {
    /** Ends threads whose script computes too long, where no interrupt can reach it, or holds too much memory. */
    check(): void {
      const memory = [...threads].map(([n, { tenant, status }]) => ({ n, tenant, ...readThreadStatus(status) }));
      const evicted = threadToEvict(memory, MAX_VM_BYTES);
      if (evicted !== undefined) end(evicted, "memory");
      // a thread that has ended meanwhile reports that itself
      for (const [n, thread] of threads) checkCpu(n, thread).catch(() => {});
    },
    /** Passes on an order. The first order of a tick or a step starts its thread if it is missing. */
    route(routed: RoutedOrder): void {
      const thread = threads.get(routed.thread);
      if ("end" in routed) {
        threads.delete(routed.thread);
        return void thread?.worker.terminate();
      }
      const { order, tenant } = routed;
      if (order.kind !== "tick" && order.kind !== "step") return thread?.worker.postMessage(order);
      const working = thread ?? start(routed.thread, tenant);
      working.tenant = tenant;
      working.worker.postMessage(order);
    },
  };
}
