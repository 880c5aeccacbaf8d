import { launch } from "../../processes/launch.ts";
import { supervise } from "../../processes/supervise.ts";
import type { Order, Report, RoutedOrder, ThreadLoss, ThreadReport } from "./messages.ts";

const HEAP_MIB = 256;
/** Scheduling priorities. A run waits for its tick, which takes a fraction of a millisecond; a step may take any time. */
const NICE = { ticks: 0, steps: 2 };
/** The second line of defence: the process itself limits the memory of its scripts (see serveWorkflows.ts). */
const MAX_RESIDENT_BYTES = 2_000_000_000;

/** Receives a thread's reports about one order. */
export interface ReportListener {
  onReport(report: Report): void;
  /** The thread has ended. `isCulprit`: it was computing this order at that time. */
  onLost(loss: ThreadLoss, isCulprit: boolean): void;
}

/** The thread for an order, and the tenant that it works for. */
export interface ThreadAddress {
  thread: number;
  tenant: string;
}

/** A process that runs ticks or steps in its threads. It has no credentials and reads no file but its program. */
export function startRunnerProcess(what: "ticks" | "steps", cpu_ms: number, onThreadLost: (thread: number) => void) {
  const listeners = new Map<number, { thread: number; listener: ReportListener }>();

  /** `thread`: null for all threads. `at`: the order it was computing. */
  function lose(thread: number | null, loss: ThreadLoss, at: number | null): void {
    for (const [id, { thread: own, listener }] of listeners) {
      if (thread !== null && own !== thread) continue;
      listeners.delete(id);
      listener.onLost(loss, id === at);
    }
    if (thread !== null) onThreadLost(thread);
  }

  const child = launch({
    program: "roles/workflowScripts.ts",
    args: [what, String(cpu_ms)],
    readable: ["services/scripting", "services/workflows", "infra/sandbox", "infra/processes"],
    heap: HEAP_MIB,
    nice: NICE[what],
  });
  const { gone, end, isAlive, send } = supervise(child, {
    maxBytes: MAX_RESIDENT_BYTES,
    isBusy: () => listeners.size > 0,
    onGone: () => lose(null, "failed", null),
  });
  const route = (order: RoutedOrder): void => void send(order);
  child.on("message", (message: ThreadReport) => {
    if ("lost" in message) return lose(message.thread, message.lost, message.at);
    const { report } = message;
    const found = listeners.get(report.id);
    if (report.kind === "done" || report.kind === "broken") listeners.delete(report.id);
    found?.listener.onReport(report);
  });

  return {
    gone,
    end,
    isAlive,
    running: (): number => listeners.size,
    /** Sends an order. The listener receives its reports. */
    start({ thread, tenant }: ThreadAddress, order: Order, listener: ReportListener): void {
      listeners.set(order.id, { thread, listener });
      route({ thread, tenant, order });
    },
    send: ({ thread, tenant }: ThreadAddress, order: Order): void => route({ thread, tenant, order }),
    endThread(thread: number): void {
      route({ thread, end: true });
      lose(thread, "failed", null);
    },
  };
}

export type RunnerProcess = ReturnType<typeof startRunnerProcess>;
