import { setTimeout as sleep } from "node:timers/promises";
import { EmptyCollection } from "#events/collection.ts";
import { DeleteDocument } from "#events/document.ts";
import { parseStreamName, streamName } from "#events/ids.ts";
import type { StreamHead } from "#events/ports.ts";
import type { Send } from "../send.ts";

const INTERVAL_MS = 100;

export interface CollectionEmptierOptions {
  /** Ids of some documents of a collection; undefined while the read model is behind the position. */
  listDocumentIds(collection_id: string, position: number): Promise<string[] | undefined>;
  send: Send;
  onError(error: unknown, stream: string): void;
}

/**
 * Deletes the documents of deleted collections. Readers no longer see them, but their text is still in the index and their
 * keys still exist. A document that is uploaded meanwhile is deleted when it is about to be read.
 */
export function createCollectionEmptier(options: CollectionEmptierOptions) {
  const running = new Map<string, Promise<void>>();
  let isStopped = false;

  const empty = async (head: StreamHead): Promise<void> => {
    const collection_id = parseStreamName(head.stream).id;
    const remove = (document_id: string) =>
      options.send({ ...head, stream: streamName("document", document_id) }, DeleteDocument.type, { document_id });
    for (let position = head.position; !isStopped; await sleep(INTERVAL_MS)) {
      const ids = await options.listDocumentIds(collection_id, position);
      if (ids?.length === 0) return void (await options.send(head, EmptyCollection.type, { collection_id }));
      const results = await Promise.all((ids ?? []).map(remove));
      // Another process deletes them, or the read model is behind: leave the rest to the sweep instead of polling.
      if (ids && results.every((result) => result.position === 0)) return;
      position = Math.max(position, ...results.map((result) => result.position));
    }
  };

  return {
    /** Starts to empty a deleted collection, unless this process does so already. */
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
      isStopped = true;
      await Promise.all(running.values());
    },
  };
}
