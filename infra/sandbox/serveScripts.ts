import { endWithParent } from "../processes/endWithParent.ts";
import type { Order, Report } from "./messages.ts";
import { createScriptThreads } from "./scriptThreads.ts";
import { compileQuickJs } from "./vm/wasm.ts";

const CHECK_MS = 250;

/**
 * Runs scripts for the parent process until the parent disconnects or dies. Each script has a thread of its own, which can be ended
 * whatever the script does. The main thread runs no script, so that it always receives orders.
 */
export function serveScripts(cpu_ms: number): void {
  const threads = createScriptThreads({ wasm: compileQuickJs(), cpu_ms }, (report: Report) => {
    process.send?.(report);
  });
  setInterval(threads.checkCpuOfAll, CHECK_MS);
  endWithParent();
  process.on("message", (order: Order) => {
    if (order.kind === "run" || order.kind === "inspect") threads.run(order);
    else if (order.kind === "answer") threads.send(order);
    else threads.cancel(order.id);
  });
}
