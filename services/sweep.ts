import { partsOf } from "#events/ids.ts";
import type { EventLog, StreamHead } from "#events/ports.ts";

const EVERY_MS = 2_000;
const AT_ONCE = 100;
/** Where there is more than it takes at once: ten thousand timers that fire together are not to wait for minutes. */
const AGAIN_MS = 100;

export interface SweepOptions {
  log: Pick<EventLog, "openWork">;
  worker: string;
  /** Streams that this process works on: a hundred of its own must not hide what others have lost. */
  busy(): string[];
  /** Who attends to open work, by aggregate. */
  attend: Record<string, (head: StreamHead) => Promise<void>>;
  onError(error: unknown, stream: string): void;
}

/**
 * Level-triggered recovery: again and again it looks for open work that nobody living holds, that is overdue, or that
 * is this process's own and forgotten, and has it attended to. Nothing else is needed for recovery; wake-ups only make it quicker.
 */
export function createSweep(options: SweepOptions) {
  let timer: NodeJS.Timeout | undefined;
  let sweeping: Promise<{ more: boolean }> | undefined;

  const attend = async (head: StreamHead): Promise<void> => {
    try {
      await options.attend[partsOf(head.stream).aggregate]?.(head);
    } catch (error) {
      options.onError(error, head.stream);
    }
  };

  const once = async (): Promise<{ more: boolean }> => {
    try {
      const { log, worker, busy } = options;
      const work = await log.openWork({ worker, busy: busy(), now: new Date(), limit: AT_ONCE });
      await Promise.all(work.map(attend));
      return { more: work.length >= AT_ONCE };
    } catch (error) {
      options.onError(error, "");
      return { more: false };
    }
  };

  const loop = async (): Promise<void> => {
    sweeping = once();
    const { more } = await sweeping;
    timer = timer && setTimeout(() => void loop(), more ? AGAIN_MS : EVERY_MS);
  };

  return {
    /** Sweeps once, now; `more`: there may be work that it has not come to. */
    once,
    start(): void {
      timer = setTimeout(() => void loop(), EVERY_MS);
    },
    async stop(): Promise<void> {
      clearTimeout(timer);
      timer = undefined;
      await sweeping;
    },
  };
}
