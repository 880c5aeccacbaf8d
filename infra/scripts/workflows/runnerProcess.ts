import { launch } from "../../processes/launch.ts";
import { residentBytes } from "../../processes/resident.ts";
import type { Loss, Order, Report, Routed, Routing } from "./messages.ts";

const LOOK_MS = 500;
const HEAP = 256;
/** A tick is a fraction of a millisecond that a run waits for; a step may be anything. */
const NICE = { ticks: 0, steps: 2 };
/** Where what scripts hold is not counted soon enough. In bytes. */
const RESIDENT = 2_000_000_000;

/** One who waits for what a thread reports of his order. */
export interface Listener {
  heard(report: Report): void;
  /** The thread is gone. `culprit`: it was computing this then. */
  lost(loss: Loss, culprit: boolean): void;
}

/** Where an order goes: a thread, and for whom it works. */
export interface Place {
  thread: number;
  tenant: string;
}

/** A process that runs ticks or steps in its threads. It has no credentials and no files but its program. */
export function startRunner(what: "ticks" | "steps", cpu_ms: number, onThreadLost: (thread: number) => void) {
  const child = launch({
    program: "roles/workflowScripts.ts",
    args: [what, String(cpu_ms)],
    readable: ["services/scripting", "services/workflows", "infra/scripts"],
    heap: HEAP,
    nice: NICE[what],
  });
  const listeners = new Map<number, { thread: number; listener: Listener }>();
  let alive = true;
  const send = (routed: Routed): void => {
    // what cannot be sent any more is lost with the process
    if (alive) child.send(routed, () => {});
  };
  const end = (): void => {
    alive = false;
    child.kill("SIGKILL");
  };
  function lose(thread: number | null, loss: Loss, at: number | null): void {
    for (const [id, one] of listeners) {
      if (thread !== null && one.thread !== thread) continue;
      listeners.delete(id);
      one.listener.lost(loss, id === at);
    }
    if (thread !== null) onThreadLost(thread);
  }

  const watch = setInterval(() => {
    if (listeners.size > 0 && residentBytes(child.pid ?? 0) > RESIDENT) end();
  }, LOOK_MS);
  const gone = new Promise<void>((resolve) => {
    child.on("error", () => resolve());
    child.once("exit", () => resolve());
  }).then(() => {
    alive = false;
    clearInterval(watch);
    lose(null, "failed", null);
  });
  child.on("message", (routing: Routing) => {
    if ("lost" in routing) return lose(routing.thread, routing.lost, routing.at);
    const { report } = routing;
    const one = listeners.get(report.id);
    if (report.kind === "done" || report.kind === "broken") listeners.delete(report.id);
    one?.listener.heard(report);
  });

  return {
    gone,
    end,
    isAlive: () => alive,
    running: () => listeners.size,
    /** Sends an order to a thread; what comes of the same id goes to the listener. */
    begin({ thread, tenant }: Place, order: Order, listener: Listener): void {
      listeners.set(order.id, { thread, listener });
      send({ thread, tenant, order });
    },
    tell: ({ thread, tenant }: Place, order: Order): void => send({ thread, tenant, order }),
    endThread(thread: number): void {
      send({ thread, end: true });
      lose(thread, "failed", null);
    },
  };
}

export type Runner = ReturnType<typeof startRunner>;
