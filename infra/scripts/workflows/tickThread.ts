import { parentPort, workerData } from "node:worker_threads";
import type { MemoEntry } from "#services/workflows/tick.ts";
import { openBoard } from "./board.ts";
import { createCodeCache } from "./guestCode.ts";
import { newHistory, remember, type History } from "./history.ts";
import type { Order, Report, ThreadData, Ticked, TickOrder } from "./messages.ts";
import { openTicks } from "./tickVm.ts";

/* A thread that re-executes run(), one tick after another, and keeps what it was told of each run. */

/** What is kept of runs, in bytes; those that ticked longest ago go. */
const MOST = 64 * 1024 * 1024;
const CODE_BYTES = 32 * 1024 * 1024;

interface Kept {
  history: History;
  args: string;
  created_at: number;
  entries: number;
}

const port = parentPort!;
const { shared, ...options } = workerData as ThreadData;
const board = openBoard(shared);
const code = createCodeCache(CODE_BYTES);
const ticks = openTicks({ ...options, watch: board.ahead });
const runs = new Map<string, Kept>();
let bytes = 0;
let given: ((text: string) => void) | undefined;

const tell = (report: Report): void => port.postMessage(report);
const need = (id: number, what: "script" | "history"): Promise<string> => {
  const text = new Promise<string>((resolve) => (given = resolve));
  tell({ kind: "need", id, what });
  return text;
};

function forget(run_id: string): Kept | undefined {
  const kept = runs.get(run_id);
  if (kept) bytes -= kept.history.bytes;
  runs.delete(run_id);
  return kept;
}
function keep(run_id: string, kept: Kept): void {
  runs.set(run_id, kept);
  bytes += kept.history.bytes;
  for (const oldest of runs.keys()) {
    if (bytes <= MOST || oldest === run_id) return;
    forget(oldest);
  }
}

/** What is known of the run with what the order adds; undefined where something before it is missing. */
function known({ from, memo, args, created_at }: TickOrder, before: Kept | undefined): Kept | undefined {
  const whole = args === undefined || created_at === undefined ? undefined : { args, created_at };
  const kept = from === 0 ? whole && { ...whole, history: newHistory(), entries: 0 } : before;
  if (!kept || kept.entries !== from) return undefined;
  remember(kept.history, memo as MemoEntry[]);
  kept.entries += memo.length;
  return kept;
}

async function run(id: number, text: string): Promise<Ticked> {
  const order = JSON.parse(text) as TickOrder;
  const { run_id, sha256, now, ahead } = order;
  const before = forget(run_id);
  const kept = known(order, before) ?? known(JSON.parse(await need(id, "history")) as TickOrder, undefined);
  if (!kept) throw new Error("The history of the run is not whole.");
  const script = code.find(sha256) ?? (await need(id, "script"));
  const { history, args, created_at } = kept;
  board.enter(id);
  try {
    const ticked = await ticks.run({ run_id, sha256, script, args, created_at, now, history, ahead });
    const { outcome, early, compiled } = ticked;
    if (compiled) code.add(sha256, compiled);
    return { outcome, early };
  } finally {
    board.leave();
    keep(run_id, kept);
  }
}

port.on("message", (order: Order) => {
  if (order.kind === "give") return given?.(order.text);
  if (order.kind === "forget") return void forget(order.text);
  if (order.kind !== "tick") return;
  const { id } = order;
  run(id, order.text).then(
    (ticked) => {
      tell({ kind: "done", id, text: JSON.stringify(ticked) });
      ticks.prepare();
    },
    (error: Error) => tell({ kind: "broken", id, message: String(error?.message) }),
  );
});
