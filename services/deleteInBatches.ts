import { setTimeout as sleep } from "node:timers/promises";
import type { CommandResult } from "#events/envelope.ts";
import type { StreamHead } from "#events/ports.ts";
import { createFairSemaphore } from "./sharing/fairSemaphore.ts";

const INTERVAL_MS = 100;
/** Deletions that run at the same time. Each sends dozens of commands, and an organization may have deleted thousands of collections. */
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

/** Runs deletions, at most one per stream at a time; organizations take turns. The next sweep continues an interrupted one. */
export function createBatchDeleter({ open, onError }: BatchDeleterOptions) {
  const running = new Map<string, Promise<void>>();
  const semaphore = createFairSemaphore(MAX_AT_ONCE);
  let isStopped = false;

  const run = async (head: StreamHead): Promise<void> => {
    if (isStopped) return;
    const deletion = await open(head);
    for (let position = head.position; !isStopped; await sleep(INTERVAL_MS)) {
      const results = await deletion.deleteSome(position);
      if (!results || results === "refused") continue;
      if (results === "waits") return;
      if (results.length === 0) return void (await deletion.complete());
      // Another process is deleting them, or the read model is behind. Leave the rest to the sweep instead of polling.
      if (!results.some(hasDeleted)) return;
      position = Math.max(position, ...results.map((result) => result.position));
    }
  };

  return {
    /** Starts a stream's deletion, unless this process runs it already. */
    resumeWork(head: StreamHead): Promise<void> {
      if (!running.has(head.stream)) {
        const ended = semaphore
          .run(head.organization_id, () => run(head))
          .catch((error: unknown) => onError(error, head.stream));
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
