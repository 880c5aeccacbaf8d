import { DeleteDocument } from "#events/document.ts";
import { parseStreamName, streamName } from "#events/ids.ts";
import { EmptySource } from "#events/source.ts";
import { createBatchDeleter } from "../deleteInBatches.ts";
import type { Send } from "../send.ts";

export interface SourceEmptierOptions {
  /**
   * Ids of some documents of a source that still exist and may be deleted, and whether holds keep all that are left. Undefined while
   * the read models are behind the position.
   */
  listDocuments(source_id: string, position: number): Promise<{ ids: string[]; areHeld: boolean } | undefined>;
  send: Send;
  onError(error: unknown, stream: string): void;
}

/** Deletes the documents of sources that were deleted together with their documents. */
export const createSourceEmptier = ({ listDocuments, send, onError }: SourceEmptierOptions) =>
  createBatchDeleter({
    open(head) {
      const source_id = parseStreamName(head.stream).id;
      const remove = (document_id: string) =>
        send({ ...head, stream: streamName("document", document_id) }, DeleteDocument.type, { document_id });
      return {
        async deleteSome(position) {
          const found = await listDocuments(source_id, position);
          if (!found) return undefined;
          return found.areHeld ? "waits" : Promise.all(found.ids.map(remove));
        },
        complete: () => send(head, EmptySource.type, { source_id }),
      };
    },
    onError,
  });
