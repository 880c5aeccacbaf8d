import { parentPort, workerData } from "node:worker_threads";
import { ScriptError } from "#services/scripting/runner.ts";
import { compile } from "./compile.ts";
import { inspectWorkflow } from "./inspectWorkflow.ts";
import type { Order, Report, ScriptOrder } from "./messages.ts";
import { openScriptVm, type ScriptVm, type ScriptVmOptions, type SendRequest } from "./scriptVm.ts";

/* A thread that runs one script after another. It opens the VM for the next script in advance. */

const port = parentPort!;
const options = workerData as ScriptVmOptions;
const report = (message: Report): void => port.postMessage(message);

/** The running script's open requests, by number. */
let pending: { id: number; requests: { resolve(json: string): void; reject(error: Error): void }[] } = {
  id: -1,
  requests: [],
};
let nextVm: Promise<ScriptVm> | undefined = openScriptVm(options);

const sendRequestsOf =
  (id: number): SendRequest =>
  (what, text) =>
    new Promise((resolve, reject) => {
      const request = pending.requests.push({ resolve, reject }) - 1;
      report({ kind: "request", id, request, what, text });
    });

/** Takes the VM that was opened in advance. The next one opens once the script has ended. */
function takeVm(): Promise<ScriptVm> {
  const vm = nextVm ?? openScriptVm(options);
  nextVm = undefined;
  return vm;
}

async function execute(order: ScriptOrder): Promise<string> {
  if (order.kind === "run") return (await takeVm()).execute(order.js, order.input, sendRequestsOf(order.id));
  const { js, meta_at, meta_fields, program } = compile(order.source);
  const found =
    order.type === "tool"
      ? JSON.parse(await (await takeVm()).inspect(js))
      : await inspectWorkflow(program, js, options);
  return JSON.stringify({ ...found, js, meta_at, meta_fields });
}

async function run(order: ScriptOrder): Promise<Report> {
  const { id } = order;
  pending = { id, requests: [] };
  try {
    return { kind: "done", id, json: await execute(order) };
  } catch (error) {
    const isScripts = error instanceof ScriptError;
    const { message, line, column } = isScripts
      ? error
      : new ScriptError(`The script could not be run: ${(error as Error).message}`);
    return { kind: "failed", id, message, line, column, broken: !isScripts };
  }
}

port.on("message", (order: Order) => {
  if (order.kind === "run" || order.kind === "inspect") {
    void run(order).then((outcome) => {
      report(outcome);
      nextVm ??= openScriptVm(options);
    });
  } else if (order.kind === "answer" && order.id === pending.id) {
    const { ok, text, request } = order;
    if (ok) pending.requests[request]?.resolve(text);
    else pending.requests[request]?.reject(new Error(text));
  }
});
