import { setTimeout as sleep } from "node:timers/promises";
import { EmptyCollection } from "#events/collection.ts";
import { DeleteDocument } from "#events/document.ts";
import { partsOf, streamOf } from "#events/ids.ts";
import type { StreamHead } from "#events/ports.ts";
import type { Send } from "../send.ts";

const EVERY_MS = 100;

export interface EmptyingOptions {
  /** Ids of some of its documents; undefined as long as the read model has not passed the position. */
  documentsIn(collection_id: string, position: number): Promise<string[] | undefined>;
  send: Send;
  onError(error: unknown, stream: string): void;
}

/**
 * Deletes the documents of deleted collections. Nobody sees them any more; what is left is to take their text out of the
 * index and to destroy their keys. One that is uploaded meanwhile deletes itself when its turn to be read comes.
 */
export function createEmptying(options: EmptyingOptions) {
  const running = new Map<string, Promise<void>>();
  let stopped = false;

  const empty = async (head: StreamHead): Promise<void> => {
    const collection_id = partsOf(head.stream).id;
    const remove = (document_id: string) =>
      options.send({ ...head, stream: streamOf("document", document_id) }, DeleteDocument.type, { document_id });
    for (let position = head.position; !stopped; await sleep(EVERY_MS)) {
      const ids = await options.documentsIn(collection_id, position);
      if (ids?.length === 0) return void (await options.send(head, EmptyCollection.type, { collection_id }));
      const answers = await Promise.all((ids ?? []).map(remove));
      // others delete them, or the read model keeps what is gone: the sweep looks again, and not ten times a second
      if (ids && answers.every((answer) => answer.position === 0)) return;
      position = Math.max(position, ...answers.map((answer) => answer.position));
    }
  };

  return {
    /** Begins with a deleted collection, unless it is being emptied here. */
    attend(head: StreamHead): Promise<void> {
      if (!running.has(head.stream)) {
        const run = empty(head).catch((error) => options.onError(error, head.stream));
        running.set(
          head.stream,
          run.finally(() => running.delete(head.stream)),
        );
      }
      return Promise.resolve();
    },
    async stop(): Promise<void> {
      stopped = true;
      await Promise.all(running.values());
    },
  };
}
