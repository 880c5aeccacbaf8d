import { DeleteDocument } from "#events/document.ts";
import { parseStreamName, streamName } from "#events/ids.ts";
import { EmptySource } from "#events/source.ts";
import { createBatchDeleter } from "../deleteInBatches.ts";
import type { Send } from "../send.ts";

export interface SourceEmptierOptions {
  /** Ids of some documents of a source that still exist; undefined while the read models are behind the position. */
  listDocumentIds(source_id: string, position: number): Promise<string[] | undefined>;
  send: Send;
  onError(error: unknown, stream: string): void;
}

/** Deletes the documents of sources that were deleted together with their documents. */
export const createSourceEmptier = ({ listDocumentIds, send, onError }: SourceEmptierOptions) =>
  createBatchDeleter({
    open(head) {
      const source_id = parseStreamName(head.stream).id;
      const remove = (document_id: string) =>
        send({ ...head, stream: streamName("document", document_id) }, DeleteDocument.type, { document_id });
      return {
        async deleteSome(position) {
          const ids = await listDocumentIds(source_id, position);
          return ids && Promise.all(ids.map(remove));
        },
        complete: () => send(head, EmptySource.type, { source_id }),
      };
    },
    onError,
  });
