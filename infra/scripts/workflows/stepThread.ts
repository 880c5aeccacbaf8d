import { parentPort, workerData } from "node:worker_threads";
import type { Order, Report, StepOrder, StepOutcome } from "./messages.ts";
import { openSteps } from "./stepVm.ts";

/* A thread that runs attempts at steps. One waits while others compute. */

const port = parentPort!;
const { wasm, cpu_ms } = workerData as { wasm: never; cpu_ms: number };
const steps = openSteps(wasm, cpu_ms, () => {});

interface Running {
  asks: ((json: string) => void)[];
  cut: AbortController;
  given?: (text: string) => void;
}
const running = new Map<number, Running>();
const tell = (report: Report): void => port.postMessage(report);

async function run(id: number, text: string): Promise<StepOutcome> {
  const one: Running = { asks: [], cut: new AbortController() };
  running.set(id, one);
  const order = JSON.parse(text) as StepOrder;
  if (!steps.has(order.sha256)) {
    const js = new Promise<string>((resolve) => (one.given = resolve));
    tell({ kind: "need", id, what: "script" });
    await steps.keep(order.sha256, await js);
  }
  return steps.run({
    ...order,
    signal: one.cut.signal,
    ask: (what, asked) =>
      new Promise<string>((resolve) => {
        const ask = one.asks.push(resolve) - 1;
        tell({ kind: "ask", id, ask, what, text: asked });
      }),
  });
}

port.on("message", (order: Order) => {
  const { id } = order;
  const one = running.get(id);
  if (order.kind === "give") one?.given?.(order.text);
  else if (order.kind === "answer") one?.asks[order.ask]?.(order.text);
  else if (order.kind === "cancel") one?.cut.abort();
  else if (order.kind === "step")
    run(id, order.text)
      .then(
        (outcome) => tell({ kind: "done", id, text: JSON.stringify(outcome) }),
        (error: Error) => tell({ kind: "broken", id, message: String(error?.message) }),
      )
      .finally(() => running.delete(id));
});
