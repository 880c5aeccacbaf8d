import type { PendingCall, TickOutcome } from "#services/workflows/tick.ts";
import { findCall, type Call, type CallHistory, type CallRequest } from "./callHistory.ts";
import { InvalidOption } from "./callOptions.ts";
import { createLogs, MAX_OUTSTANDING_CALLS, MAX_REQUESTED_JSON } from "./limits.ts";
import type { SpeculatedStep } from "./messages.ts";

/** The calls of `run()` so far in one tick. */
export interface TickState {
  run_id: string;
  /** Epoch milliseconds. */
  now: number;
  history: CallHistory;
  /** Number of this tick in the history. */
  tick: number;
  /** New calls, in order. */
  requested: PendingCall[];
  /** New calls of now(), and their JSON. */
  fixedValues: Map<Call, string>;
  logs: ReturnType<typeof createLogs>;
  /** Numbers of calls made with a result and without one. */
  answered: number;
  outstanding: number;
  /** The rank of the result that the last request got; the highest of several. */
  lastOrder: number;
  /** Size of this tick's new requests, in UTF-16 units. */
  requestedJson: number;
  /** The end requested by the first complete() or continueAs(). */
  ended: Extract<TickOutcome["end"], { type: "completed" | "continued" }> | undefined;
  speculated: (SpeculatedStep & { call: Call })[];
  /** Numbers of log lines and fixed values that are part of `speculated`. */
  speculatedLines: number;
  speculatedValues: number;
  /** Called when the tick makes a call for the first time. */
  onCall: ((call: Call) => void) | undefined;
}

export type NewTick = Pick<TickState, "run_id" | "now" | "history"> & Partial<Pick<TickState, "onCall">>;

export function newTickState({ run_id, now, history, onCall }: NewTick): TickState {
  const tick = ++history.ticks;
  return {
    run_id,
    now,
    history,
    tick,
    requested: [],
    fixedValues: new Map(),
    logs: createLogs(),
    answered: 0,
    outstanding: 0,
    lastOrder: 0,
    requestedJson: 0,
    ended: undefined,
    speculated: [],
    speculatedLines: 0,
    speculatedValues: 0,
    onCall,
  };
}

/** Counts a call. Returns false if this tick has made it before. Throws InvalidOption beyond the limit. */
export function countCall(state: TickState, call: Call): boolean {
  state.lastOrder = Math.max(state.lastOrder, call.order);
  if (call.lastTick === state.tick) return false;
  call.lastTick = state.tick;
  state.onCall?.(call);
  if (call.value) state.answered += 1;
  else if (++state.outstanding > MAX_OUTSTANDING_CALLS)
    throw new InvalidOption(`run() has more than ${MAX_OUTSTANDING_CALLS} calls without a result.`);
  return true;
}

/** Counts a new request, which is kept in memory. Throws InvalidOption beyond the limit. */
export function countRequest(state: TickState, request: string): string {
  state.requestedJson += request.length;
  if (state.requestedJson > MAX_REQUESTED_JSON)
    throw new InvalidOption(`The new calls of run() are longer than ${MAX_REQUESTED_JSON} characters of JSON.`);
  return request;
}

export const findOrAddCall = (state: TickState, request: CallRequest): Call =>
  state.history.callByRequest.get(request.request) ??
  findCall(state.history, { ...request, request: countRequest(state, request.request) });

/** Fixed values that are not part of `speculated`. */
export const newValues = ({ fixedValues, speculatedValues }: TickState): { key: string; json: string }[] =>
  [...fixedValues].slice(speculatedValues).map(([{ key }, json]) => ({ key, json }));

/** Whether every known result has been used, so that `run()` can only be waiting for calls without a result. */
export const hasUsedAllResults = ({ answered, history }: TickState): boolean => answered === history.answered;

/** Keys of results that this tick has not used; empty unless it has made a new call. */
export function unusedKeys(state: TickState): string[] {
  if (state.requested.length === 0 || hasUsedAllResults(state)) return [];
  return [...state.history.calls.values()]
    .filter(({ value, lastTick }) => value && lastTick !== state.tick)
    .map(({ key }) => key);
}
