import { parentPort, workerData } from "node:worker_threads";
import { openBoard } from "./board.ts";
import { createCodeCache } from "./guestCode.ts";
import type { Order, Report, StepOrder, StepOutcome, ThreadData } from "./messages.ts";
import { KEPT } from "./realm.ts";
import { createSeat, type Seat } from "./stepVm.ts";

/* A thread that runs attempts at steps of one tenant; while one waits, another computes. */

/** VMs that wait for their next attempt. */
const SPARE = 2;
const CODE_BYTES = 16 * 1024 * 1024;

interface Running {
  asks: ((json: string) => void)[];
  cut: AbortController;
  given?: (text: string) => void;
}

const port = parentPort!;
const { wasm, cpu_ms, shared } = workerData as ThreadData;
const board = openBoard(shared);
const code = createCodeCache(CODE_BYTES);
const running = new Map<number, Running>();
const seats = new Set<Seat>();
const spare: Seat[] = [];

const tell = (report: Report): void => port.postMessage(report);
function showBytes(): void {
  let bytes = 0;
  for (const seat of seats) bytes += seat.bytes();
  board.hold(bytes);
}
const options = {
  wasm,
  cpu_ms,
  enter: board.enter,
  leave(): void {
    board.leave();
    showBytes();
  },
};

async function seated(work: (seat: Seat) => Promise<StepOutcome>): Promise<StepOutcome> {
  const seat = spare.pop() ?? createSeat(options, code);
  seats.add(seat);
  try {
    return await work(seat);
  } finally {
    if (spare.length < SPARE && seat.bytes() <= KEPT) spare.push(seat);
    else seats.delete(seat);
    showBytes();
  }
}

async function scriptOf(id: number, sha256: string, one: Running): Promise<Uint8Array | string> {
  const known = code.find(sha256);
  if (known) return known;
  const js = new Promise<string>((resolve) => (one.given = resolve));
  tell({ kind: "need", id, what: "script" });
  return js;
}

async function run(id: number, order: StepOrder): Promise<StepOutcome> {
  const one: Running = { asks: [], cut: new AbortController() };
  running.set(id, one);
  const script = await scriptOf(id, order.sha256, one);
  const ask = (what: string, text: string) =>
    new Promise<string>((resolve) => {
      const nth = one.asks.push(resolve) - 1;
      tell({ kind: "ask", id, ask: nth, what, text });
    });
  return seated((seat) => seat.run(id, { ...order, script, ask, signal: one.cut.signal }));
}

function begin(id: number, text: string): void {
  run(id, JSON.parse(text) as StepOrder)
    .then(
      (outcome) => tell({ kind: "done", id, text: JSON.stringify(outcome) }),
      (error: Error) => tell({ kind: "broken", id, message: String(error?.message) }),
    )
    .finally(() => running.delete(id));
}

port.on("message", (order: Order) => {
  const one = running.get(order.id);
  if (order.kind === "step") begin(order.id, order.text);
  else if (order.kind === "give") one?.given?.(order.text);
  else if (order.kind === "answer") one?.asks[order.ask]?.(order.text);
  else if (order.kind === "cancel") one?.cut.abort();
});
