import { setTimeout as sleep } from "node:timers/promises";
import { AdvanceErasure, CompleteErasure, type ErasureEvent } from "#events/erasure.ts";
import { DeleteFile } from "#events/file.ts";
import { parseStreamName, streamName } from "#events/ids.ts";
import type { EventLog, StreamHead } from "#events/ports.ts";
import { DeleteThread } from "#events/thread.ts";
import type { Send } from "./send.ts";

const INTERVAL_MS = 100;

interface Owned {
  id: string;
  scope: string;
}

export interface EraserOptions {
  log: Pick<EventLog, "read">;
  /**
   * Some threads and files of an owner (`key:<id>`, `person:<id>` or `agent:<id>`) that were created before a position;
   * undefined while the read models are behind `position`.
   */
  listOwned(
    organization: string,
    owner: string,
    range: { before: number; position: number },
  ): Promise<{ threads: Owned[]; files: Owned[] } | undefined>;
  send: Send;
  onError(error: unknown, stream: string): void;
}

/** Deletes what owners have, a batch at a time, with the commands that delete one thread or file. */
export function createEraser({ log, listOwned, send, onError }: EraserOptions) {
  const running = new Map<string, Promise<void>>();
  let isStopped = false;

  const deleteThread = ({ organization_id }: StreamHead, { id, scope }: Owned) =>
    send({ organization_id, stream: streamName("thread", id) }, DeleteThread.type, { scope });
  const deleteFile = ({ organization_id }: StreamHead, { id, scope }: Owned) =>
    send({ organization_id, stream: streamName("file", id) }, DeleteFile.type, { file_id: id, scope });

  const erase = async (head: StreamHead): Promise<void> => {
    const { id: erasure_id } = parseStreamName(head.stream);
    const [started] = await log.read(head.stream);
    const { owner } = started!.data as Extract<ErasureEvent, { type: "ErasureStarted" }>["data"];
    // what the owner creates from now on stays, so the work ends
    const before = started!.position;
    for (let position = head.position; !isStopped; await sleep(INTERVAL_MS)) {
      const owned = await listOwned(head.organization_id, owner, { before, position });
      if (!owned) continue;
      if (owned.threads.length + owned.files.length === 0)
        return void (await send(head, CompleteErasure.type, { erasure_id }));
      const threads = await Promise.all(owned.threads.map((one) => deleteThread(head, one)));
      const files = await Promise.all(owned.files.map((one) => deleteFile(head, one)));
      const deleted = [...threads, ...files].filter((result) => result.position > 0);
      // Another process deletes them, or the read model is behind: leave the rest to the sweep instead of polling.
      if (deleted.length === 0) return;
      const count = (results: typeof threads) => results.filter((result) => result.position > 0).length;
      const progress = { erasure_id, threads: count(threads), files: count(files) };
      await send(head, AdvanceErasure.type, progress);
      position = Math.max(position, ...deleted.map((result) => result.position));
    }
  };

  return {
    /** Starts to erase, unless this process does so already. */
    attend(head: StreamHead): Promise<void> {
      if (!running.has(head.stream)) {
        const run = erase(head).catch((error: unknown) => onError(error, head.stream));
        running.set(
          head.stream,
          run.finally(() => running.delete(head.stream)),
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
