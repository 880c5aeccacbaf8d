import { EmptyCollection } from "#events/collection.ts";
import { DeleteDocument } from "#events/document.ts";
import { parseStreamName, streamName } from "#events/ids.ts";
import { createBatchDeleter } from "../deleteInBatches.ts";
import { DeleteSource } from "#events/source.ts";
import type { Send } from "../send.ts";

export interface CollectionEmptierOptions {
  /**
   * Ids of some sources of a collection and of documents that may be deleted, and whether holds keep all documents that are left.
   * Undefined while the read models are behind the position.
   */
  listContent(
    collection_id: string,
    position: number,
  ): Promise<{ documents: { ids: string[]; areHeld: boolean }; sources: string[] } | undefined>;
  send: Send;
  onError(error: unknown, stream: string): void;
}

/**
 * Deletes the sources and documents of deleted collections. Readers no longer see them, but their text is still in the index and their
 * keys still exist. A document that is uploaded meanwhile is deleted when it is about to be read.
 */
export const createCollectionEmptier = ({ listContent, send, onError }: CollectionEmptierOptions) =>
  createBatchDeleter({
    open(head) {
      const collection_id = parseStreamName(head.stream).id;
      const remove = (document_id: string) =>
        send({ ...head, stream: streamName("document", document_id) }, DeleteDocument.type, { document_id });
      const removeSource = (source_id: string) =>
        send({ ...head, stream: streamName("source", source_id) }, DeleteSource.type, { source_id, documents: false });
      return {
        async deleteSome(position) {
          const found = await listContent(collection_id, position);
          if (!found) return undefined;
          const { sources, documents } = found;
          if (sources.length === 0 && documents.areHeld) return "waits";
          return Promise.all([...sources.map(removeSource), ...documents.ids.map(remove)]);
        },
        complete: () => send(head, EmptyCollection.type, { collection_id }),
      };
    },
    onError,
  });
