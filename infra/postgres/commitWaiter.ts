import type { Hints } from "#events/ports.ts";
import { createPause } from "./pause.ts";

/** Gathers events that no request waits for: a single turn then costs one transaction instead of two. */
const GATHER_MS = 20;
/** Maximum pause between two reads of the log, for hints that were lost. */
const POLL_MS = 250;

/** Waits until the log may have events after a position. Requests of readers end the wait at once, commits soon. */
export function createCommitWaiter(hints: Pick<Hints, "onCommitted" | "onRequested">) {
  const pause = createPause();
  // the newest hints since the last reset
  let committed = 0;
  let requested = 0;
  const unsubscribe = [
    hints.onCommitted((position) => {
      committed = Math.max(committed, position);
      pause.cut(GATHER_MS);
    }),
    hints.onRequested((position) => {
      requested = Math.max(requested, position);
      pause.cut(0);
    }),
  ];
  return {
    wake: () => pause.cut(0),
    /** Call before reading the log, so that hints during the read count. */
    reset(): void {
      committed = requested = 0;
    },
    async waitAfter(position: number): Promise<void> {
      if (requested <= position) await pause.wait(committed > position ? GATHER_MS : POLL_MS);
    },
    close(): void {
      for (const leave of unsubscribe) leave();
    },
  };
}
export type CommitWaiter = ReturnType<typeof createCommitWaiter>;
