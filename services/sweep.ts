import { currentTime } from "#events/clock.ts";
import { parseStreamName } from "#events/ids.ts";
import type { EventLog, StreamHead } from "#events/ports.ts";
import { waitAtMost } from "./waitAtMost.ts";

const INTERVAL_MS = 2_000;
/** Pause between sweeps when due times follow each other closely. */
const MIN_INTERVAL_MS = 200;
const BATCH_SIZE = 200;
/** Pause after a full batch. It is short, so that ten thousand timers that fire together do not wait for minutes. */
const FULL_BATCH_INTERVAL_MS = 20;
/**
 * A sweep waits this long for what it has resumed, or many would be resumed at once. The rest goes on: events of one organization may
 * wait half a minute for a read model, and timers of others must not.
 */
const MAX_WAIT_MS = 500;

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

/** Resumes the work of streams, each once at a time. */
function createResumer({ resumeWork, onError }: Pick<SweepOptions, "resumeWork" | "onError">) {
  const resuming = new Map<string, Promise<void>>();
  async function resume(head: StreamHead): Promise<void> {
    try {
      await resumeWork[parseStreamName(head.stream).aggregate]?.(head);
    } catch (error) {
      onError(error, head.stream);
    } finally {
      resuming.delete(head.stream);
    }
  }
  return {
    /** Resolves when those that it starts have ended. */
    start(heads: StreamHead[]): Promise<unknown> {
      const started = heads.filter(({ stream }) => !resuming.has(stream));
      // later, because those that end at once would be removed before they are added
      const ends = started.map((head) => Promise.resolve().then(() => resume(head)));
      for (const [n, { stream }] of started.entries()) resuming.set(stream, ends[n]!);
      return Promise.all(ends);
    },
    isBusy: (): boolean => resuming.size > 0,
    idle: (): Promise<unknown> => Promise.all(resuming.values()),
  };
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

  const resumer = createResumer(options);

  /** `pause`: until the next look if the batch was full, so that there may be more work. */
  const once = async (now: Date, maxWait: number): Promise<{ pause?: number }> => {
    try {
      const { log, worker, busy } = options;
      const work = await log.openWork({ worker, busy: busy(), now, limit: BATCH_SIZE });
      const resumed = resumer.start(work);
      await (maxWait === Infinity ? resumed : waitAtMost(resumed, maxWait));
      const found = new Set(work.map(({ stream }) => stream));
      const isFull = work.length >= BATCH_SIZE;
      // a full batch of work that can only wait, such as erasures of held things, is no reason to look again at once
      const isOther = !found.isSubsetOf(last);
      last = found;
      if (isFull && isOther) return { pause: FULL_BATCH_INTERVAL_MS };
      return isFull && resumer.isBusy() ? { pause: MIN_INTERVAL_MS } : {};
    } catch (error) {
      options.onError(error, "");
      return {};
    }
  };

  /** Sweeps, and resolves with the milliseconds until the next sweep. */
  const sweepNow = async (): Promise<number> => {
    const now = new Date(readTime());
    const { pause } = await once(now, MAX_WAIT_MS);
    return pause ?? Math.min(Math.max(await untilDue(options, now), MIN_INTERVAL_MS), INTERVAL_MS);
  };

  const loop = async (): Promise<void> => {
    const swept = sweepNow();
    sweeping = swept;
    const ms = await swept;
    timer = timer && setTimeout(() => void loop(), ms);
  };

  return {
    /** Runs one sweep now, and waits for all that it resumes. */
    async once(): Promise<void> {
      await once(new Date(readTime()), Infinity);
    },
    start(): void {
      timer = setTimeout(() => void loop(), INTERVAL_MS);
    },
    async stop(): Promise<void> {
      clearTimeout(timer);
      timer = undefined;
      await sweeping;
      await resumer.idle();
    },
  };
}
