import type { TracedCall } from "#services/workflows/tick.ts";
import { NO_PLACE, placeInStack } from "../vm/thrown.ts";
import type { Call } from "./callHistory.ts";

/** Records where `run()` makes its calls. */
export function createTickTrace() {
  const calls: TracedCall[] = [];
  let readStack: (() => string) | undefined;
  return {
    calls,
    /** `stack`: reads the stack of the script, which is inside one of its calls. */
    begin(stack: () => string): void {
      readStack = stack;
    },
    add({ key }: Call): void {
      const read = readStack;
      // a script can replace what formats a stack by code that makes calls or computes too long
      readStack = undefined;
      try {
        calls.push({ key, ...placeInStack(read?.()) });
      } catch {
        calls.push({ key, ...NO_PLACE });
      }
      readStack = read;
    },
  };
}

export type TickTrace = ReturnType<typeof createTickTrace>;
