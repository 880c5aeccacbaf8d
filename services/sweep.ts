import { parseStreamName } from "#events/ids.ts";
import { withOwner } from "#events/owner.ts";
import type { EventLog, StreamHead } from "#events/ports.ts";

const INTERVAL_MS = 2_000;
/** Pause between sweeps for due times that follow each other closely. */
const MIN_INTERVAL_MS = 200;
const BATCH_SIZE = 200;
/** Streams of one organization that sweeps attend to at once. */
const MAX_OF_ORGANIZATION = 2 * BATCH_SIZE;
/** A sweep whose work takes longer goes on beside the next one, so that the slow work of one organization delays no other. */
const MAX_SWEEP_MS = 2_000;
/** Pause after a full batch. Ten thousand timers that fire together must not wait for minutes. */
const FULL_BATCH_INTERVAL_MS = 20;

export interface SweepOptions {
  log: Pick<EventLog, "openWork" | "nextDue">;
  worker: string;
  /** Streams that this process works on. They are left out, or a hundred of them would hide the lost work of others. */
  busy(): string[];
  /** Handlers of open work, by aggregate. */
  attend: Record<string, (head: StreamHead) => Promise<void>>;
  onError(error: unknown, stream: string): void;
}

const later = <T>(value: T, ms: number): Promise<T> => new Promise((resolve) => setTimeout(resolve, ms, value).unref());

/** Milliseconds to the first due time after that of a sweep; what became due during the sweep is late already. */
async function untilDue({ log, onError }: SweepOptions, swept: Date): Promise<number> {
  try {
    const due = await log.nextDue(swept);
    return due ? due.getTime() - Date.now() : Infinity;
  } catch (error) {
    onError(error, "");
    return Infinity;
  }
}

/** Attends to each stream once at a time, and to a share of those of one organization. Never throws. */
function createAttendant({ attend, onError }: Pick<SweepOptions, "attend" | "onError">) {
  /** Streams that are attended to now, by organization. */
  const attending = new Map<string, Set<string>>();
  return async (head: StreamHead): Promise<void> => {
    const { stream, organization_id } = head;
    const own = attending.get(organization_id) ?? new Set();
    if (own.has(stream) || own.size >= MAX_OF_ORGANIZATION) return;
    attending.set(organization_id, own.add(stream));
    try {
      await withOwner(organization_id, async () => attend[parseStreamName(stream).aggregate]?.(head));
    } catch (error) {
      onError(error, stream);
    } finally {
      own.delete(stream);
      if (own.size === 0) attending.delete(organization_id);
    }
  };
}

/**
 * Level-triggered recovery. The sweep repeatedly looks for open work that no live worker holds, that is due, or that this
 * process holds but does not work on. Recovery needs nothing else: notifications only make it faster. It sleeps until the next
 * due time, two seconds at most.
 */
export function createSweep(options: SweepOptions) {
  let timer: NodeJS.Timeout | undefined;
  let waiting: Promise<unknown> | undefined;
  const sweeps = new Set<Promise<unknown>>();
  const attend = createAttendant(options);

  const once = async (now = new Date()): Promise<{ more: boolean }> => {
    try {
      const { log, worker, busy } = options;
      const work = await log.openWork({ worker, busy: busy(), now, limit: BATCH_SIZE });
      await Promise.all(work.map(attend));
      return { more: work.length >= BATCH_SIZE };
    } catch (error) {
      options.onError(error, "");
      return { more: false };
    }
  };

  const sweepAndWait = async (): Promise<number> => {
    const now = new Date();
    const sweep = once(now);
    sweeps.add(sweep);
    void sweep.then(() => sweeps.delete(sweep));
    const { more } = await Promise.race([sweep, later({ more: false }, MAX_SWEEP_MS)]);
    return more
      ? FULL_BATCH_INTERVAL_MS
      : Math.min(Math.max(await untilDue(options, now), MIN_INTERVAL_MS), INTERVAL_MS);
  };

  const loop = async (): Promise<void> => {
    const wait = sweepAndWait();
    waiting = wait;
    const ms = await wait;
    timer = timer && setTimeout(() => void loop(), ms);
  };

  return {
    /** Sweeps once, now. `more`: the batch was full, so there may be more work. */
    once: () => once(),
    start(): void {
      timer = setTimeout(() => void loop(), INTERVAL_MS);
    },
    async stop(): Promise<void> {
      clearTimeout(timer);
      timer = undefined;
      await Promise.all([waiting, ...sweeps]);
    },
  };
}
