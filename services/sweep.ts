import { currentTime } from "#events/clock.ts";
import { parseStreamName } from "#events/ids.ts";
import type { EventLog, StreamHead } from "#events/ports.ts";

const INTERVAL_MS = 2_000;
/** Pause between sweeps when due times follow each other closely. */
const MIN_INTERVAL_MS = 200;
const BATCH_SIZE = 200;
/** Pause after a full batch. It is short, so that ten thousand timers that fire together do not wait for minutes. */
const FULL_BATCH_INTERVAL_MS = 20;

export interface SweepOptions {
  log: Pick<EventLog, "openWork" | "nextDue">;
  worker: string;
  /** The clock for due times of the log. */
  now?(): number;
  /** Streams that this process works on. They are excluded, because a hundred of them would fill the batch and hide lost work of others. */
  busy(): string[];
  /** Starts, takes over or ends the open work of a stream, by aggregate. */
  resumeWork: Record<string, (head: StreamHead) => Promise<void>>;
  onError(error: unknown, stream: string): void;
}

/** Milliseconds until the first due time that the sweep begun at `swept` has not handled; negative if that is past already. */
async function untilDue({ log, now = currentTime, onError }: SweepOptions, swept: Date): Promise<number> {
  try {
    const due = await log.nextDue(swept);
    return due ? due.getTime() - now() : Infinity;
  } catch (error) {
    onError(error, "");
    return Infinity;
  }
}

/**
 * Level-triggered recovery. The sweep repeatedly looks for open work that no live worker holds, that is due, or that this
 * process holds but does not work on. Recovery needs nothing else: notifications only make it faster. It sleeps until the next
 * due time, two seconds at most.
 */
export function createSweep(options: SweepOptions) {
  const { now: readTime = currentTime } = options;
  let timer: NodeJS.Timeout | undefined;
  let sweeping: Promise<unknown> | undefined;
  /** The streams that the last sweep found. */
  let last: ReadonlySet<string> = new Set();

  const resumeWork = async (head: StreamHead): Promise<void> => {
    try {
      await options.resumeWork[parseStreamName(head.stream).aggregate]?.(head);
    } catch (error) {
      options.onError(error, head.stream);
    }
  };

  const once = async (now = new Date(readTime())): Promise<{ more: boolean }> => {
    try {
      const { log, worker, busy } = options;
      const work = await log.openWork({ worker, busy: busy(), now, limit: BATCH_SIZE });
      await Promise.all(work.map(resumeWork));
      const found = new Set(work.map(({ stream }) => stream));
      // a full batch of work that can only wait, such as erasures of held things, is no reason to look again at once
      const more = work.length >= BATCH_SIZE && !found.isSubsetOf(last);
      last = found;
      return { more };
    } catch (error) {
      options.onError(error, "");
      return { more: false };
    }
  };

  /** Sweeps, and resolves with the milliseconds until the next sweep. */
  const sweepNow = async (): Promise<number> => {
    const now = new Date(readTime());
    const { more } = await once(now);
    return more
      ? FULL_BATCH_INTERVAL_MS
      : Math.min(Math.max(await untilDue(options, now), MIN_INTERVAL_MS), INTERVAL_MS);
  };

  const loop = async (): Promise<void> => {
    const swept = sweepNow();
    sweeping = swept;
    const ms = await swept;
    timer = timer && setTimeout(() => void loop(), ms);
  };

  return {
    /** Runs one sweep now. `more`: the batch was full, so there may be more work. */
    once: () => once(),
    start(): void {
      timer = setTimeout(() => void loop(), INTERVAL_MS);
    },
    async stop(): Promise<void> {
      clearTimeout(timer);
      timer = undefined;
      await sweeping;
    },
  };
}
