import type { MemoEntry } from "#services/workflows/tick.ts";

/** Runs of which it is remembered what a thread was told; the thread itself keeps fewer where they are large. */
const MOST = 10_000;

/** What a thread was told of each run: how many entries of which memo. */
function createSent() {
  const sent = new Map<string, { memo: WeakRef<MemoEntry[]>; entries: number }>();
  return {
    has: (run_id: string): boolean => sent.has(run_id),
    /** 0 where it was told of another history, or of none. */
    entries(run_id: string, memo: MemoEntry[]): number {
      const told = sent.get(run_id);
      return told?.memo.deref() === memo ? told.entries : 0;
    },
    add(run_id: string, memo: MemoEntry[]): void {
      sent.delete(run_id);
      sent.set(run_id, { memo: new WeakRef(memo), entries: memo.length });
      if (sent.size > MOST) sent.delete(sent.keys().next().value!);
    },
    delete: (run_id: string): boolean => sent.delete(run_id),
  };
}

/** A thread that runs one tick at a time. */
export interface Lane {
  thread: number;
  isBusy: boolean;
  sent: ReturnType<typeof createSent>;
}

/** Threads of one process. */
export function createLanes() {
  const lanes = new Map<number, Lane>();
  let threads = 0;
  function open(): Lane {
    const lane = { thread: threads++, isBusy: false, sent: createSent() };
    lanes.set(lane.thread, lane);
    return lane;
  }
  return {
    /** One that is free: that which knows the run, else that which was opened first, else another. */
    take(run_id: string): Lane {
      const free = [...lanes.values()].filter(({ isBusy }) => !isBusy);
      const lane = free.find(({ sent }) => sent.has(run_id)) ?? free[0] ?? open();
      lane.isBusy = true;
      return lane;
    },
    lost: (thread: number): void => void lanes.delete(thread),
    /** Threads that knew the run. */
    forget: (run_id: string): number[] =>
      [...lanes.values()].filter(({ sent }) => sent.delete(run_id)).map(({ thread }) => thread),
  };
}
