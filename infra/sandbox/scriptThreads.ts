import { Worker } from "node:worker_threads";
import type { Order, Report, ScriptOrder } from "./messages.ts";
import { cpuLimitExceeded, type ScriptVmOptions } from "./scriptVm.ts";

/** While one thread opens its next VM (0.8 ms), another takes the next call. Inspections need one thread, whose start takes 0.5 s. */
const THREADS_FOR_CALLS = 2;
/** Added to a script's limit for the interval between two checks and the opening of its VM. */
const GRACE_MS = 1_000;
/** QuickJS has memory of its own; a thread's heap only holds text on its way in and out. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8, stackSizeMb: 4 };

interface Thread {
  worker: Worker;
  /** Id of the running script; undefined while idle. */
  id: number | undefined;
  /** CPU milliseconds the thread had used at the first check during this script. */
  cpuMsBefore: number | undefined;
}

interface ThreadListener {
  /** Called with a report about the thread's running script. */
  onReport(report: Report): void;
  onLost(message: string): void;
}

function startThread(options: ScriptVmOptions, { onReport, onLost }: ThreadListener): Thread {
  const worker = new Worker(new URL("./scriptThread.ts", import.meta.url), {
    workerData: options,
    resourceLimits: RESOURCE_LIMITS,
  });
  const thread: Thread = { worker, id: undefined, cpuMsBefore: undefined };
  worker.on("message", (report: Report) => {
    if (report.id === thread.id) onReport(report);
  });
  worker.on("error", (error: Error) => onLost(`The script could not be run: ${error.message}`));
  worker.on("exit", () => onLost("The script could not be run."));
  return thread;
}

function assignScript(thread: Thread, order: ScriptOrder): void {
  thread.id = order.id;
  thread.cpuMsBefore = undefined;
  thread.worker.postMessage(order);
}

/** Whether a thread's script has used more CPU time than `limit_ms`. */
async function hasExceededCpu(thread: Thread, limit_ms: number): Promise<boolean> {
  const { id } = thread;
  const { user, system } = await thread.worker.cpuUsage();
  if (thread.id !== id) return false;
  const used = (user + system) / 1_000;
  thread.cpuMsBefore ??= used;
  return used - thread.cpuMsBefore > limit_ms;
}

/** The threads of one process, each of which runs one script at a time. */
export function createScriptThreads(options: ScriptVmOptions, onReport: (report: Report) => void) {
  /** The longest idle come first, because their next VM is open. */
  const threads = new Set<Thread>();

  const findRunning = (id: number): Thread | undefined => [...threads].find((thread) => thread.id === id);

  function end(thread: Thread, message: string): void {
    if (!threads.delete(thread)) return;
    const { id } = thread;
    if (id !== undefined) onReport({ kind: "failed", id, message, line: null, column: null, broken: true });
    void thread.worker.terminate();
  }

  function markIdle(thread: Thread): void {
    thread.id = undefined;
    threads.delete(thread);
    threads.add(thread);
  }

  function start(): Thread {
    const thread = startThread(options, {
      onReport(report) {
        if (report.kind !== "request") markIdle(thread);
        if (report.kind === "failed" && report.broken) end(thread, "");
        onReport(report);
      },
      onLost: (message) => end(thread, message),
    });
    threads.add(thread);
    return thread;
  }

  async function checkCpu(thread: Thread): Promise<void> {
    const { cpu_ms } = options;
    if (await hasExceededCpu(thread, cpu_ms + GRACE_MS)) end(thread, cpuLimitExceeded(cpu_ms).message);
  }

  start();
  return {
    run(order: ScriptOrder): void {
      if (order.kind === "run" && threads.size < THREADS_FOR_CALLS) start();
      assignScript([...threads].find(({ id }) => id === undefined) ?? start(), order);
    },
    /** Passes an order to the thread of a running script. */
    send: (order: Order): void => findRunning(order.id)?.worker.postMessage(order),
    cancel(id: number): void {
      const thread = findRunning(id);
      if (!thread) return;
      thread.id = undefined; // its end is not reported
      end(thread, "");
    },
    /** Ends threads whose script exceeded its CPU time in a native operation, which no interrupt can reach. */
    checkCpuOfAll(): void {
      // a thread that has ended meanwhile reports that itself
      for (const thread of threads) if (thread.id !== undefined) checkCpu(thread).catch(() => {});
    },
  };
}
