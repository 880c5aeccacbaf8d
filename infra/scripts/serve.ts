import { ScriptFailed } from "#services/scripting/runner.ts";
import type { Order, Report } from "./messages.ts";
import { openVm } from "./vm.ts";

interface Asked {
  resolve(json: string): void;
  reject(error: Error): void;
}

interface Run {
  asked: Map<number, Asked>;
  cancelled: boolean;
}

const runs = new Map<number, Run>();

const tell = (report: Report): void => {
  process.send?.(report);
};

function failed(id: number, error: unknown): Report {
  const known = error instanceof ScriptFailed;
  const message = known ? error.message : `The script could not be run: ${(error as Error).message}`;
  return { kind: "failed", id, message, line: known ? error.line : null };
}

async function start(order: Extract<Order, { kind: "run" | "inspect" }>): Promise<void> {
  const { id } = order;
  const run: Run = { asked: new Map(), cancelled: false };
  runs.set(id, run);
  let asks = 0;
  try {
    const vm = await openVm((what, text) => {
      if (run.cancelled) return Promise.reject(new Error("The call was cancelled."));
      const ask = asks++;
      tell({ kind: "ask", id, ask, what, text });
      return new Promise((resolve, reject) => run.asked.set(ask, { resolve, reject }));
    });
    try {
      const json = order.kind === "inspect" ? await vm.inspect(order.js) : await vm.execute(order.js, order.input);
      if (!run.cancelled) tell({ kind: "done", id, json });
    } finally {
      vm.close();
    }
  } catch (error) {
    if (!run.cancelled) tell(failed(id, error));
  } finally {
    runs.delete(id);
  }
}

function answer({ id, ask, ok, text }: Extract<Order, { kind: "answer" }>): void {
  const asked = runs.get(id)?.asked;
  const one = asked?.get(ask);
  asked?.delete(ask);
  if (ok) one?.resolve(text);
  else one?.reject(new Error(text));
}

/** Nobody waits for it any more: what it still asks for is refused, so that it comes to its end. */
function cancel(id: number): void {
  const run = runs.get(id);
  if (!run) return;
  run.cancelled = true;
  for (const { reject } of run.asked.values()) reject(new Error("The call was cancelled."));
}

/** Runs what the parent process orders, until the parent lets go or dies. */
export function serveScripts(): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
  process.on("disconnect", () => process.exit());
  process.on("message", (order: Order) => {
    switch (order.kind) {
      case "inspect":
      case "run":
        return void start(order);
      case "answer":
        return answer(order);
      case "cancel":
        return cancel(order.id);
      case "ping":
        return tell({ kind: "pong" });
    }
  });
}
