import { setTimeout as sleep } from "node:timers/promises";
import { dropOldest } from "#events/dropOldest.ts";
import type { CommandResult } from "#events/envelope.ts";
import type { StreamHead } from "#events/ports.ts";
import { createFairSemaphore } from "./sharing/fairSemaphore.ts";

const INTERVAL_MS = 100;
/**
 * Pause before a waiting deletion is tried again; it doubles each time. A hold may stand for years, and an organization may have
 * hundreds of erasures that wait for it.
 */
const [FIRST_WAIT_MS, MAX_WAIT_MS] = [100, 30_000];
/** Maximum pauses that a process remembers; the oldest is forgotten first. */
const MAX_WAITING = 10_000;
/**
 * Batches that are deleted at the same time. Each sends dozens of commands, and an organization may have deleted thousands of
 * collections. A deletion waits for its turn before each batch, because a whole deletion may take hours.
 */
const MAX_AT_ONCE = { total: 32, perTenant: 16 };

/** The deletion of everything that one stream's work covers. */
export interface Deletion {
  /**
   * Sends the commands that delete one batch, and returns their results; none when nothing is left, undefined while the read models
   * are behind `position`. `waits`: the rest must stay until a hold is released or a run has ended. `refused`: the whole batch must
   * stay, and the next call continues after it.
   */
  deleteSome(position: number): Promise<CommandResult[] | "waits" | "refused" | undefined>;
  /** Records that nothing is left. */
  complete(): Promise<unknown>;
}

interface BatchDeleterOptions {
  open(head: StreamHead): Deletion | Promise<Deletion>;
  onError(error: unknown, stream: string): void;
}

/** Whether a command changed anything. */
export const hasDeleted = ({ position }: CommandResult): boolean => position > 0;

const isHeld = ({ rejection }: CommandResult): boolean => rejection?.code === "legal_hold";

/** Runs deletions, at most one per stream at a time. The next sweep continues an interrupted one. */
export function createBatchDeleter({ open, onError }: BatchDeleterOptions) {
  const running = new Map<string, Promise<void>>();
  const waiting = new Map<string, { ms: number; until: number }>();
  const semaphore = createFairSemaphore(MAX_AT_ONCE);
  let isStopped = false;

  function pause(stream: string): void {
    const ms = Math.min(2 * (waiting.get(stream)?.ms ?? FIRST_WAIT_MS / 2), MAX_WAIT_MS);
    waiting.delete(stream);
    waiting.set(stream, { ms, until: performance.now() + ms });
    dropOldest(waiting, MAX_WAITING);
  }

  /** Runs `work` when it is the organization's turn. Resolves with undefined once the deleter has stopped. */
  const takeTurn = <T>({ organization_id }: StreamHead, work: () => T | Promise<T>): Promise<T | undefined> =>
    semaphore.run(organization_id, async () => (isStopped ? undefined : work()));

  const run = async (head: StreamHead): Promise<void> => {
    const deletion = await takeTurn(head, () => open(head));
    if (!deletion) return;
    for (let position = head.position; !isStopped; await sleep(INTERVAL_MS)) {
      const results = await takeTurn(head, () => deletion.deleteSome(position));
      if (!results || results === "refused") continue;
      if (results === "waits") return pause(head.stream);
      if (results.length > 0 && results.every(isHeld)) return pause(head.stream);
      waiting.delete(head.stream);
      if (results.length === 0) return void (await deletion.complete());
      // Another process is deleting them, or the read model is behind. Leave the rest to the sweep instead of polling.
      if (!results.some(hasDeleted)) return;
      position = Math.max(position, ...results.map((result) => result.position));
    }
  };

  return {
    /** Starts a stream's deletion, unless this process runs it already or has just found that it must wait. */
    resumeWork(head: StreamHead): Promise<void> {
      const isPaused = performance.now() < (waiting.get(head.stream)?.until ?? 0);
      if (!running.has(head.stream) && !isPaused) {
        const ended = run(head).catch((error: unknown) => onError(error, head.stream));
        running.set(
          head.stream,
          ended.finally(() => running.delete(head.stream)),
        );
      }
      return Promise.resolve();
    },
    async stop(): Promise<void> {
      isStopped = true;
      await Promise.all(running.values());
    },
  };
}
