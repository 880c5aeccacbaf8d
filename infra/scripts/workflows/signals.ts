import type { TickWarning } from "#services/workflows/tick.ts";
import { lineOf } from "./failure.ts";

const MOST = 10;

/** A signal that a call of `run()` was answered with. */
export interface Raised {
  /** The call, in so many words. */
  call: string;
  /** It is that of complete(). */
  ends: boolean;
  stack: string | null;
}

/**
 * Signals that `run()` went on after. `last`: the one of complete() that it ended with, null where it ended with none. One that
 * nobody awaited was not swallowed.
 */
export function swallowedSignals(
  raised: Raised[],
  last: number | null,
  isAwaited: (n: number) => boolean,
): TickWarning[] {
  const before = last === null ? raised : raised.slice(0, last);
  const warnings = new Map<string, TickWarning>();
  for (const [n, { call, stack }] of before.entries()) {
    const line = lineOf(stack);
    const place = `${call} ${line}`;
    if (warnings.size === MOST) break;
    if (warnings.has(place) || !isAwaited(n)) continue;
    const message = `The signal of ${call} was caught, and run() went on without what it waits for.`;
    warnings.set(place, { code: "signal_swallowed", message, call, line });
  }
  return [...warnings.values()];
}

export const nestedSignal = ({ call, stack }: Raised): TickWarning => ({
  code: "nested_signal",
  message: `The error holds the signal of ${call}: a signal is to be thrown on as it is.`,
  call,
  line: lineOf(stack),
});
