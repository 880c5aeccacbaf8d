import type { TickOutcome } from "#services/workflows/tick.ts";
import type { ScriptException } from "../vm/thrown.ts";
import { MAX_RESULT, nestsTooDeep } from "./limits.ts";
import { RunFailure, runFailure } from "./runFailure.ts";
import { nestedSignal, swallowedSignals, type RaisedSignal } from "./signalWarnings.ts";

/** What `run()` threw, in the form of `describe` in tickGuest.ts. */
export interface ThrownByRun {
  /** Index of the signal, if it is one; otherwise null. */
  signal: number | null;
  /** Whether that is the signal of complete(). */
  ends: boolean;
  /** Index of the signal it wraps, or null. */
  wraps: number | null;
  error: ScriptException;
}

/** The state of the promise of `run()` when no job is left in its VM. */
export type RunPromise = { is: "pending" } | { is: "returned"; json(): string } | { is: "thrown"; thrown: ThrownByRun };

export interface RunSignals {
  raised(): RaisedSignal[];
  /** Whether anything awaits the promise that a signal rejected. */
  isAwaited(n: number): boolean;
}

export type TickEnd = Pick<TickOutcome, "end" | "warnings">;

const SUSPENDED: TickOutcome["end"] = { type: "suspended" };

export const stuckFailure = (what: string): RunFailure =>
  new RunFailure("run_stuck", `${what} waits for a promise that never settles.`);

function implicitEnd(json: string): TickOutcome["end"] {
  if (json.length > MAX_RESULT || nestsTooDeep(json))
    throw new RunFailure("result_too_large", "The result of run() is larger than 1 MiB, or nests too deep.");
  return { type: "completed", completion: "implicit", json };
}

function thrownEnd({ signal, ends, wraps, error }: ThrownByRun, { raised, isAwaited }: RunSignals): TickEnd {
  if (signal !== null) return { end: SUSPENDED, warnings: ends ? swallowedSignals(raised(), signal, isAwaited) : [] };
  const signals = raised();
  const warnings = swallowedSignals(signals, null, isAwaited);
  const failure = runFailure(error);
  const wrapped = wraps === null ? undefined : signals[wraps];
  if (!wrapped) return { end: failure.end(), warnings };
  const nested = nestedSignal(wrapped);
  const others = warnings.filter(({ call }) => call !== wrapped.call);
  return { end: failure.end(` (${nested.message})`), warnings: [nested, ...others] };
}

/**
 * Derives the end of a tick from what `run()` did. `isOpen`: it has called complete() or continueAs(), which are applied later, or
 * waits for a new call. Throws RunFailure.
 */
export function tickEnd(state: RunPromise, isOpen: boolean, signals: RunSignals): TickEnd {
  switch (state.is) {
    case "pending":
      if (!isOpen) throw stuckFailure("run()");
      return { end: SUSPENDED, warnings: [] };
    case "returned":
      if (!isOpen || signals.raised().every(({ lost }) => lost))
        return { end: implicitEnd(state.json()), warnings: [] };
      return { end: SUSPENDED, warnings: swallowedSignals(signals.raised(), null, signals.isAwaited) };
    case "thrown":
      return thrownEnd(state.thrown, signals);
  }
}
