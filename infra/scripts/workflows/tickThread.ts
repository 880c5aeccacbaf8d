import { parentPort, workerData } from "node:worker_threads";
import type { MemoEntry, TickOutcome } from "#services/workflows/tick.ts";
import { newHistory, remember, type History } from "./history.ts";
import type { Order, Report, TickOrder } from "./messages.ts";
import { openTicks } from "./tickVm.ts";

/* A thread that re-executes run(), one tick after another, and keeps what it was told of each run. */

/** What is kept of runs, in bytes; those that ticked longest ago go. */
const MOST = 64 * 1024 * 1024;

interface Kept {
  history: History;
  args: string;
  created_at: number;
  entries: number;
}

const port = parentPort!;
const { wasm } = workerData as { wasm: never };
const ticks = openTicks(wasm);
const runs = new Map<string, Kept>();
let given: ((text: string) => void) | undefined;

const tell = (report: Report): void => port.postMessage(report);
const need = (id: number, what: "script" | "history"): Promise<string> => {
  const text = new Promise<string>((resolve) => (given = resolve));
  tell({ kind: "need", id, what });
  return text;
};

function makeRoom(run_id: string): void {
  let bytes = 0;
  for (const { history } of runs.values()) bytes += history.bytes;
  for (const [oldest, { history }] of runs) {
    if (bytes <= MOST || oldest === run_id) return;
    runs.delete(oldest);
    bytes -= history.bytes;
  }
}

/** What is known of the run with what the order adds; undefined where something before it is missing. */
function known({ run_id, from, memo, args, created_at }: TickOrder): Kept | undefined {
  const before = runs.get(run_id);
  runs.delete(run_id);
  if (from > 0 && before?.entries !== from) return undefined;
  const whole = args !== undefined && created_at !== undefined;
  const kept = from > 0 ? before! : whole ? { history: newHistory(), args, created_at, entries: 0 } : undefined;
  if (!kept) return undefined;
  remember(kept.history, memo as MemoEntry[]);
  kept.entries = from + memo.length;
  runs.set(run_id, kept);
  return kept;
}

async function run(id: number, text: string): Promise<TickOutcome> {
  const { keep, has, run: tick } = await ticks;
  const order = JSON.parse(text) as TickOrder;
  const { run_id, sha256, now } = order;
  const kept = known(order) ?? known(JSON.parse(await need(id, "history")) as TickOrder);
  if (!kept) throw new Error("The history of the run is not whole.");
  if (!has(sha256)) await keep(sha256, await need(id, "script"));
  const { history, args, created_at } = kept;
  const outcome = await tick({ run_id, sha256, args, created_at, now, history });
  makeRoom(run_id);
  return outcome;
}

port.on("message", (order: Order) => {
  if (order.kind === "give") return given?.(order.text);
  if (order.kind !== "tick") return;
  const { id } = order;
  run(id, order.text).then(
    (outcome) => tell({ kind: "done", id, text: JSON.stringify(outcome) }),
    (error: Error) => tell({ kind: "broken", id, message: String(error?.message) }),
  );
});
