import type { JSValueHandle } from "quickjs-wasi";
import { FULFILLED, PENDING, type Execution } from "../vm/execution.ts";
import type { Realm } from "./realm.ts";
import { runFailure } from "./runFailure.ts";
import { stuckFailure, type RunPromise, type ThrownByRun } from "./tickEnd.ts";

/* The script's module in the VM of a tick: evaluates it and calls its `run()`. */

/** The functions that the guest returns, in this order (see tickGuest.ts). */
const GUEST_FUNCTIONS = [
  "prepare",
  "start",
  "describe",
  "resultJson",
  "allSignals",
  "signalAt",
  "stack",
  "deliver",
] as const;
type TickGuest = Record<(typeof GUEST_FUNCTIONS)[number], JSValueHandle>;
export const nameTickGuest = (functions: JSValueHandle[]): TickGuest =>
  Object.fromEntries(GUEST_FUNCTIONS.map((name, n) => [name, functions[n]])) as TickGuest;

/** Runs all jobs. Waiting answers are delivered one at a time, each when no job is left and `isOver` is false. */
function settle({ drain, call }: Execution, { deliver }: TickGuest, isOver: () => boolean): void {
  drain();
  while (!isOver() && call(deliver).toString() === "true") drain();
}

/** Evaluates the module of the script. */
export async function evaluate({ vm }: Realm, execution: Execution, code: Uint8Array, guest: TickGuest) {
  const { inside, call, resultOf } = execution;
  const { describe } = guest;
  const promise = inside(() => vm().evalBytecode(code));
  settle(execution, guest, () => promise.promiseState !== PENDING);
  if (promise.promiseState === PENDING) throw stuckFailure("The script");
  const result = await resultOf(promise);
  if (promise.promiseState === FULFILLED) return result;
  const { error } = JSON.parse(call(describe, result).toString()) as ThrownByRun;
  throw runFailure(error ?? { name: null, message: "The top level of the script threw a signal.", stack: null });
}

/** Calls `run()`, and reads its state when no job is left. `hasEnded`: it has called complete() or continueAs(). */
export async function runModule(
  execution: Execution,
  module: JSValueHandle,
  guest: TickGuest,
  hasEnded: () => boolean,
): Promise<RunPromise> {
  const { call, resultOf } = execution;
  const { start, describe, resultJson } = guest;
  const promise = call(start, module);
  settle(execution, guest, () => promise.promiseState !== PENDING);
  if (promise.promiseState === PENDING) return { is: "pending" };
  const result = await resultOf(promise);
  if (promise.promiseState === FULFILLED) return { is: "returned", json: () => call(resultJson, result).toString() };
  const thrown = JSON.parse(call(describe, result).toString()) as ThrownByRun;
  // what run() itself awaits has no answer yet, but its other branches may make more calls
  if (thrown.signal !== null && !thrown.ends) settle(execution, guest, hasEnded);
  return { is: "thrown", thrown };
}
