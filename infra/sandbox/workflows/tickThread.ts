import { parentPort, workerData } from "node:worker_threads";
import type { MemoEntry } from "#services/workflows/tick.ts";
import { createCodeCache } from "./bytecode.ts";
import { newCallHistory, addMemoEntries, type CallHistory } from "./callHistory.ts";
import {
  shouldKeepHistory,
  type Order,
  type Report,
  type ThreadData,
  type TickOrder,
  type TickReply,
} from "./messages.ts";
import { writeThreadStatus } from "./threadStatus.ts";
import { createTickVm } from "./tickVm.ts";

/* A thread that runs one tick after another, and keeps the histories of its runs. */

/** Maximum bytes of all histories. Beyond it, the least recently ticked are dropped. */
const MAX_HISTORY_BYTES = 64 * 1024 * 1024;
const CODE_CACHE_BYTES = 32 * 1024 * 1024;

interface CachedRun {
  history: CallHistory;
  args: string;
  headers: Record<string, string>;
  created_at: number;
  /** Number of memo entries in the history. */
  entries: number;
}

const port = parentPort!;
const { status: shared, wasm, cpu_ms } = workerData as ThreadData;
const status = writeThreadStatus(shared);
const codeCache = createCodeCache(CODE_CACHE_BYTES);
const vm = createTickVm({ wasm, cpu_ms, onSpeculate: status.setSpeculative });
const runs = new Map<string, CachedRun>();
let historyBytes = 0;
let provide: ((text: string) => void) | undefined;

const report = (message: Report): void => port.postMessage(message);
function request(id: number, what: "script" | "history"): Promise<string> {
  const text = new Promise<string>((resolve) => (provide = resolve));
  report({ kind: "need", id, what });
  return text;
}

function removeRun(run_id: string): CachedRun | undefined {
  const run = runs.get(run_id);
  if (run) historyBytes -= run.history.bytes;
  runs.delete(run_id);
  return run;
}
function addRun(run_id: string, run: CachedRun): void {
  runs.set(run_id, run);
  historyBytes += run.history.bytes;
  for (const oldest of runs.keys()) {
    if (historyBytes <= MAX_HISTORY_BYTES || oldest === run_id) return;
    removeRun(oldest);
  }
}

function newRun({ args, headers = {}, created_at }: TickOrder): CachedRun | undefined {
  if (args === undefined || created_at === undefined) return undefined;
  return { args, headers, created_at, history: newCallHistory(), entries: 0 };
}

/** The run with the entries of the order added; undefined if earlier entries are missing here. */
function applyOrder(order: TickOrder, cached: CachedRun | undefined): CachedRun | undefined {
  const { from, memo } = order;
  const run = from === 0 ? newRun(order) : cached;
  if (!run || run.entries !== from) return undefined;
  addMemoEntries(run.history, memo as MemoEntry[]);
  run.entries += memo.length;
  return run;
}

async function tick(id: number, text: string): Promise<TickReply> {
  const order = JSON.parse(text) as TickOrder;
  const { run_id, seen_as = run_id, sha256, now, speculation, ordered, trace } = order;
  const cached = removeRun(run_id);
  const run = applyOrder(order, cached) ?? applyOrder(JSON.parse(await request(id, "history")) as TickOrder, undefined);
  if (!run) throw new Error("The order does not have the whole memo of the run.");
  const script = codeCache.find(sha256) ?? (await request(id, "script"));
  const { history, args, headers, created_at } = run;
  status.enter(id);
  try {
    const reply = await vm.run({
      run_id,
      seen_as,
      sha256,
      script,
      args,
      headers,
      created_at,
      now,
      history,
      speculation,
      ordered,
      trace,
    });
    const { outcome, speculated, compiled } = reply;
    if (compiled) codeCache.add(sha256, compiled);
    if (shouldKeepHistory(outcome)) addRun(run_id, run);
    return { outcome, speculated };
  } finally {
    status.leave();
  }
}

port.on("message", (order: Order) => {
  if (order.kind === "provide") return provide?.(order.text);
  if (order.kind === "forget") return void removeRun(order.text);
  if (order.kind !== "tick") return;
  const { id } = order;
  tick(id, order.text).then(
    (reply) => {
      report({ kind: "done", id, text: JSON.stringify(reply) });
      vm.prepare();
    },
    (error: Error) => report({ kind: "broken", id, message: String(error?.message) }),
  );
});
