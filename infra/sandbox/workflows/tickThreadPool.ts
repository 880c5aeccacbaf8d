import { dropOldest } from "#events/dropOldest.ts";
import type { MemoEntry } from "#services/workflows/tick.ts";

/** Runs tracked per thread. The thread itself drops large histories earlier. */
const MAX_RUNS = 10_000;

/** Tracks how much of each run's memo has been sent to a thread. */
function createSentMemos() {
  const sent = new Map<string, { memo: WeakRef<MemoEntry[]>; entries: number }>();
  return {
    has: (run_id: string): boolean => sent.has(run_id),
    /** Number of entries of this memo that the thread has; 0 if it has none, or another memo of the run. */
    count(run_id: string, memo: MemoEntry[]): number {
      const known = sent.get(run_id);
      return known?.memo.deref() === memo ? known.entries : 0;
    },
    add(run_id: string, memo: MemoEntry[]): void {
      sent.delete(run_id);
      sent.set(run_id, { memo: new WeakRef(memo), entries: memo.length });
      dropOldest(sent, MAX_RUNS);
    },
    delete: (run_id: string): boolean => sent.delete(run_id),
  };
}

/** A thread that runs one tick at a time. */
export interface TickThread {
  thread: number;
  isBusy: boolean;
  sentMemos: ReturnType<typeof createSentMemos>;
}

/** The threads of one process. */
export function createTickThreadPool() {
  const threads = new Map<number, TickThread>();
  let nextThread = 0;
  function open(): TickThread {
    const opened = { thread: nextThread++, isBusy: false, sentMemos: createSentMemos() };
    threads.set(opened.thread, opened);
    return opened;
  }
  return {
    /** Takes an idle thread: one with the run's memo, otherwise the one opened first, otherwise a new one. */
    take(run_id: string): TickThread {
      const idle = [...threads.values()].filter(({ isBusy }) => !isBusy);
      const taken = idle.find(({ sentMemos }) => sentMemos.has(run_id)) ?? idle[0] ?? open();
      taken.isBusy = true;
      return taken;
    },
    remove: (thread: number): void => void threads.delete(thread),
    /** Drops the run's memo. Returns the threads that had it. */
    forget: (run_id: string): number[] =>
      [...threads.values()].filter(({ sentMemos }) => sentMemos.delete(run_id)).map(({ thread }) => thread),
  };
}
