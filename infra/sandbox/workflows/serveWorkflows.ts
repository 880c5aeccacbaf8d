import { endWithParent } from "../../processes/endWithParent.ts";
import { compileQuickJs } from "../vm/wasm.ts";
import type { RoutedOrder } from "./messages.ts";
import { createRunnerThreads } from "./runnerThreads.ts";

const CHECK_MS = 250;

/**
 * Runs ticks or steps for the parent process until the parent disconnects or dies. The main thread runs no script, so that it
 * always receives orders and can end a thread whatever its script does.
 */
export function serveWorkflows(what: "ticks" | "steps", cpu_ms: number): void {
  const threads = createRunnerThreads({
    what,
    wasm: compileQuickJs(),
    cpu_ms,
    send: (report) => void process.send?.(report),
  });
  setInterval(threads.check, CHECK_MS);
  endWithParent();
  process.on("message", (routed: RoutedOrder) => threads.route(routed));
}
