import { createHook } from "node:async_hooks";
import { Session, type Profiler } from "node:inspector";
import { nameSlowest, type HeldCallback } from "./profile.ts";

/*
 * Loaded into the service before its own code (`--import`). Tells the test which callbacks of the event loop computed for long: by processor time,
 * because the clock would also count other processes. A callback is everything between one entry of the loop into JavaScript and the next, with the promises and ticks
 * that it left to do. The profile shows which part is the garbage collector's, because it samples that under a name of its own, and the kernel
 * counts its own time: on a machine that is short of memory it searches free pages for others, in whatever allocates.
 */

const SAMPLE_US = 1_000;
/** Callbacks below this cost are not reported. */
const REPORTED_MS = 20;

export type MonitorRequest = "start" | "stop" | { hold_ms: number };
export type MonitorAnswer = { started: true } | { callbacks: HeldCallback[] };

interface Span {
  kind: string;
  user_ms: number;
  system_ms: number;
  from_us: number;
  to_us: number;
}

const nowUs = (): number => Number(process.hrtime.bigint() / 1_000n);
/** Entries of the loop have native kinds, such as TCPWRAP; everything else runs inside of one. */
const isEntry = (kind: string): boolean =>
  kind === "Timeout" || kind === "Immediate" || (kind !== "PROMISE" && kind === kind.toUpperCase());

const kinds = new Map<number, string>();
let depth = 0;
let spans: Span[] = [];
let current: { kind: string; usage: NodeJS.CpuUsage; from_us: number } | undefined;
let isOn = false;

function enter(kind: string): void {
  const usage = process.threadCpuUsage();
  if (current) {
    const user_ms = (usage.user - current.usage.user) / 1_000;
    const system_ms = (usage.system - current.usage.system) / 1_000;
    if (user_ms + system_ms > REPORTED_MS)
      spans.push({ kind: current.kind, user_ms, system_ms, from_us: current.from_us, to_us: nowUs() });
  }
  current = { kind, usage, from_us: nowUs() };
}

createHook({
  trackPromises: false,
  init(id, kind) {
    if (isEntry(kind)) kinds.set(id, kind);
  },
  before(id) {
    if (depth++ > 0 || !isOn) return;
    const kind = kinds.get(id);
    if (kind) enter(kind);
  },
  after() {
    depth = Math.max(0, depth - 1);
  },
  destroy: (id) => void kinds.delete(id),
}).enable();

const session = new Session();
session.connect();
session.post("Profiler.enable");
session.post("Profiler.setSamplingInterval", { interval: SAMPLE_US });

function start(): void {
  session.post("Profiler.start");
  [isOn, spans, current] = [true, [], undefined];
}

function stop(answer: (callbacks: HeldCallback[]) => void): void {
  isOn = false;
  session.post("Profiler.stop", (error: Error | null, result?: Profiler.StopReturnType) => {
    if (error || !result) throw error ?? new Error("no profile");
    answer(spans.map((span) => nameSlowest(span, result.profile)));
  });
}

/** A planted fault: computes without a break. */
function hold(ms: number): void {
  const start = process.threadCpuUsage();
  let sum = 0;
  while (process.threadCpuUsage(start).user < ms * 1_000) for (let n = 0; n < 100_000; n++) sum += Math.sqrt(n);
  if (sum < 0) throw new Error("unreachable");
}

process.on("message", (request: MonitorRequest) => {
  const send = (answer: MonitorAnswer) => process.send?.(answer);
  if (request === "start") {
    start();
    send({ started: true });
  } else if (request === "stop") stop((callbacks) => send({ callbacks }));
  else setImmediate(hold, request.hold_ms);
});
process.channel?.unref();
