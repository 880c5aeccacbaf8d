import { AdvanceErasure, CompleteErasure, type ErasureEvent } from "#events/erasure.ts";
import { DeleteFile } from "#events/file.ts";
import { parseStreamName, streamName } from "#events/ids.ts";
import type { EventLog, StreamHead } from "#events/ports.ts";
import { DeleteThread } from "#events/thread.ts";
import { createBatchDeleter, hasDeleted, type Deletion } from "./deleteInBatches.ts";
import type { Send } from "./send.ts";

interface Owned {
  id: string;
  scope: string;
}

export interface EraserOptions {
  log: Pick<EventLog, "read">;
  /**
   * Some threads and files of an owner (`key:<id>`, `person:<id>` or `agent:<id>`), or of an external user's scopes, that were
   * created before a position and that no hold covers, and whether one covers others; undefined while the read models are behind `position`.
   */
  listOwned(
    organization: string,
    whose: { owner: string; scopes?: string[] | undefined },
    range: { before: number; position: number },
  ): Promise<{ threads: Owned[]; files: Owned[]; held: boolean } | undefined>;
  send: Send;
  onError(error: unknown, stream: string): void;
}

/** Deletes what owners have, a batch at a time, with the commands that delete one thread or file. */
export function createEraser({ log, listOwned, send, onError }: EraserOptions) {
  /** The erasure's name in the events of its deletions is how its certificate finds them. */
  const target = ({ organization_id, stream: request_id }: StreamHead, stream: string) => ({
    organization_id,
    request_id,
    stream,
  });
  const deleteThread = (head: StreamHead, { id, scope }: Owned) =>
    send(target(head, streamName("thread", id)), DeleteThread.type, { scope });
  const deleteFile = (head: StreamHead, { id, scope }: Owned) =>
    send(target(head, streamName("file", id)), DeleteFile.type, { file_id: id, scope });

  const open = async (head: StreamHead): Promise<Deletion> => {
    const { id: erasure_id } = parseStreamName(head.stream);
    const [started] = await log.read(head.stream);
    const { owner, scopes } = started!.data as Extract<ErasureEvent, { type: "ErasureStarted" }>["data"];
    // what the owner creates from now on stays, so the work ends
    const before = started!.position;
    return {
      async deleteSome(position) {
        const owned = await listOwned(head.organization_id, { owner, scopes }, { before, position });
        if (!owned) return undefined;
        if (owned.held && owned.threads.length + owned.files.length === 0) return "held";
        const threads = await Promise.all(owned.threads.map((one) => deleteThread(head, one)));
        const files = await Promise.all(owned.files.map((one) => deleteFile(head, one)));
        const progress = { threads: threads.filter(hasDeleted).length, files: files.filter(hasDeleted).length };
        if (progress.threads + progress.files > 0) await send(head, AdvanceErasure.type, { erasure_id, ...progress });
        return [...threads, ...files];
      },
      complete: () => send(head, CompleteErasure.type, { erasure_id }),
    };
  };
  return createBatchDeleter({ open, onError });
}
