import { EmptyCollection } from "#events/collection.ts";
import { DeleteDocument } from "#events/document.ts";
import { parseStreamName, streamName } from "#events/ids.ts";
import { createBatchDeleter } from "../deleteInBatches.ts";
import type { Send } from "../send.ts";

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
export const createCollectionEmptier = ({ listDocumentIds, send, onError }: CollectionEmptierOptions) =>
  createBatchDeleter({
    open(head) {
      const collection_id = parseStreamName(head.stream).id;
      const remove = (document_id: string) =>
        send({ ...head, stream: streamName("document", document_id) }, DeleteDocument.type, { document_id });
      return {
        async deleteSome(position) {
          const ids = await listDocumentIds(collection_id, position);
          return ids && Promise.all(ids.map(remove));
        },
        complete: () => send(head, EmptyCollection.type, { collection_id }),
      };
    },
    onError,
  });
