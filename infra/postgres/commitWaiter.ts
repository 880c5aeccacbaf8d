import type { Hints } from "#events/ports.ts";
import { createInterruptiblePause } from "./pause.ts";

/** How long events that no request waits for are gathered, so that a single turn costs one transaction instead of two. */
const GATHER_MS = 20;
/** Maximum pause between two reads of the log, in case hints are lost. */
const POLL_MS = 250;

/** Waits until the log may have events after a position. A reader's request ends the wait at once, a commit soon. */
export function createCommitWaiter(hints: Pick<Hints, "onCommitted" | "onRequested">) {
  const pause = createInterruptiblePause();
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
    /** Call it before reading the log, so that hints during the read count. */
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
