import { parentPort, workerData } from "node:worker_threads";
import { ScriptFailed } from "#services/scripting/runner.ts";
import type { Order, Report } from "./messages.ts";
import { compile } from "./compile.ts";
import { inspectWorkflow } from "./inspectWorkflow.ts";
import { openVm, type Ask, type Vm, type VmOptions } from "./vm.ts";

/* A thread that runs scripts one after another. The VM of the next one is made before it comes. */

type Running = Extract<Order, { kind: "run" | "inspect" }>;

const port = parentPort!;
const tell = (report: Report): void => port.postMessage(report);

let asked: { id: number; asks: { resolve(json: string): void; reject(error: Error): void }[] } = { id: -1, asks: [] };
let next = openVm(workerData as VmOptions);

const askFor =
  (id: number): Ask =>
  (what, text) =>
    new Promise((resolve, reject) => {
      const ask = asked.asks.push({ resolve, reject }) - 1;
      tell({ kind: "ask", id, ask, what, text });
    });

async function outcome(vm: Vm, order: Running): Promise<string> {
  if (order.kind === "run") return vm.execute(order.js, order.input, askFor(order.id));
  const { js, meta_at, program } = compile(order.source);
  const found =
    order.type === "tool"
      ? JSON.parse(await vm.inspect(js))
      : await inspectWorkflow(program, js, workerData as VmOptions);
  return JSON.stringify({ ...found, js, meta_at });
}

async function run(order: Running): Promise<Report> {
  const { id } = order;
  asked = { id, asks: [] };
  try {
    const vm = await next;
    return { kind: "done", id, json: await outcome(vm, order) };
  } catch (error) {
    const broken = !(error instanceof ScriptFailed);
    const { message, line, column } = broken
      ? new ScriptFailed(`The script could not be run: ${(error as Error).message}`)
      : error;
    return { kind: "failed", id, message, line, column, broken };
  }
}

port.on("message", (order: Order) => {
  if (order.kind === "run" || order.kind === "inspect") {
    void run(order).then((report) => {
      tell(report);
      next = openVm(workerData as VmOptions);
    });
  } else if (order.kind === "answer" && order.id === asked.id) {
    const { ok, text, ask } = order;
    if (ok) asked.asks[ask]?.resolve(text);
    else asked.asks[ask]?.reject(new Error(text));
  }
});
