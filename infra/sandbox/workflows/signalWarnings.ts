import type { TickWarning } from "#services/workflows/tick.ts";
import { placeInStack } from "../vm/thrown.ts";

const MAX_WARNINGS = 10;

/** A signal with which a call of `run()` rejected. */
export interface RaisedSignal {
  /** The call as text, such as `runStep("a")`. */
  call: string;
  /** Whether it is the signal of complete(). */
  ends: boolean;
  stack: string | null;
  /** Whether another call won its race, so that nothing waits for it any more. */
  lost?: boolean;
}

/**
 * Warnings for signals that `run()` caught before it continued, one per place. `completedBy`: index of the complete() that ended
 * `run()`, or null. A signal that nothing awaits does not count as caught.
 */
export function swallowedSignals(
  raised: RaisedSignal[],
  completedBy: number | null,
  isAwaited: (n: number) => boolean,
): TickWarning[] {
  const earlier = completedBy === null ? raised : raised.slice(0, completedBy);
  const warnings = new Map<string, TickWarning>();
  for (const [n, { call, stack, lost }] of earlier.entries()) {
    if (lost) continue;
    const { line } = placeInStack(stack);
    const place = `${call} ${line}`;
    if (warnings.size === MAX_WARNINGS) break;
    if (warnings.has(place) || !isAwaited(n)) continue;
    const message = `The signal of ${call} was caught, and run() continued without its result.`;
    warnings.set(place, { code: "signal_swallowed", message, call, line });
  }
  return [...warnings.values()];
}

/** The warning for an error that wraps a signal and that `run()` threw. */
export const nestedSignal = ({ call, stack }: RaisedSignal): TickWarning => ({
  code: "nested_signal",
  message: `The error contains the signal of ${call}: throw the signal itself.`,
  call,
  line: placeInStack(stack).line,
});
