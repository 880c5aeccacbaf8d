import { parentPort, workerData } from "node:worker_threads";
import { createCodeCache } from "./bytecode.ts";
import type { Order, Report, StepOrder, StepOutcome, ThreadData } from "./messages.ts";
import { MAX_REUSED_BYTES } from "./realm.ts";
import { createStepVm, type StepVm } from "./stepVm.ts";
import { writeThreadStatus } from "./threadStatus.ts";

/* A thread that runs attempts at steps of one tenant: while one waits, another computes. */

/** Idle VMs kept for the next attempts. */
const MAX_SPARE_VMS = 2;
const CODE_CACHE_BYTES = 16 * 1024 * 1024;

/** An attempt running in this thread. */
interface ThreadAttempt {
  /** By request number: the pieces of the answer so far, and the function that takes the complete answer. */
  answers: { pieces: string[]; resolve(json: string): void }[];
  aborter: AbortController;
  provide?: (text: string) => void;
}

const port = parentPort!;
const { wasm, cpu_ms, status: shared } = workerData as ThreadData;
const status = writeThreadStatus(shared);
const codeCache = createCodeCache(CODE_CACHE_BYTES);
const attempts = new Map<number, ThreadAttempt>();
const busyVms = new Set<StepVm>();
const spareVms: StepVm[] = [];

const report = (message: Report): void => port.postMessage(message);
function updateBytes(): void {
  let bytes = 0;
  for (const vm of [...busyVms, ...spareVms]) bytes += vm.bytes();
  status.setBytes(bytes);
}
const vmOptions = {
  wasm,
  cpu_ms,
  onEnter: status.enter,
  onLeave(): void {
    status.leave();
    updateBytes();
  },
};

async function withVm(work: (vm: StepVm) => Promise<StepOutcome>): Promise<StepOutcome> {
  const vm = spareVms.pop() ?? createStepVm(vmOptions, codeCache);
  busyVms.add(vm);
  try {
    return await work(vm);
  } finally {
    busyVms.delete(vm);
    if (spareVms.length < MAX_SPARE_VMS && vm.bytes() <= MAX_REUSED_BYTES) spareVms.push(vm);
    updateBytes();
  }
}

async function findScript(id: number, sha256: string, attempt: ThreadAttempt): Promise<Uint8Array | string> {
  const cached = codeCache.find(sha256);
  if (cached) return cached;
  const source = new Promise<string>((resolve) => (attempt.provide = resolve));
  report({ kind: "need", id, what: "script" });
  return source;
}

async function run(id: number, order: StepOrder): Promise<StepOutcome> {
  const attempt: ThreadAttempt = { answers: [], aborter: new AbortController() };
  attempts.set(id, attempt);
  const script = await findScript(id, order.sha256, attempt);
  const send = (what: string, text: string) =>
    new Promise<string>((resolve) => {
      const request = attempt.answers.push({ pieces: [], resolve }) - 1;
      report({ kind: "request", id, request, what, text });
    });
  return withVm((vm) => vm.run(id, { ...order, script, send, signal: attempt.aborter.signal }));
}

function start(id: number, text: string): void {
  run(id, JSON.parse(text) as StepOrder)
    .then(
      (outcome) => report({ kind: "done", id, text: JSON.stringify(outcome) }),
      (error: Error) => report({ kind: "broken", id, message: String(error?.message) }),
    )
    .finally(() => attempts.delete(id));
}

function endAnswer({ answers }: ThreadAttempt, request: number): void {
  const { pieces, resolve } = answers[request]!;
  resolve(pieces.splice(0).join(""));
}

port.on("message", (order: Order) => {
  const attempt = attempts.get(order.id);
  if (order.kind === "step") start(order.id, order.text);
  else if (order.kind === "provide") attempt?.provide?.(order.text);
  else if (order.kind === "answerPiece") attempt?.answers[order.request]!.pieces.push(order.text);
  else if (order.kind === "answered" && attempt) endAnswer(attempt, order.request);
  else if (order.kind === "cancel") attempt?.aborter.abort();
});
