import type { DocumentEvent } from "#events/document.ts";
import type { Recorded } from "#events/envelope.ts";
import { defineProjection, encode, type Change, type Row } from "../projection.ts";

type Of<T extends DocumentEvent["type"]> = Recorded<Extract<DocumentEvent, { type: T }>>;

const patch = ({ data, recorded_at }: Pick<Of<"DocumentChanged">, "data" | "recorded_at">, row: Row): Change => ({
  table: "documents",
  kind: "patch",
  key: { id: data.document_id },
  row: { ...row, updated_at: recorded_at },
});

type Sent = Pick<Of<"DocumentReplaced">["data"], "mime_type" | "size_bytes" | "original" | "blob">;
/** What was sent; it waits to be read. */
const sent = ({ mime_type, size_bytes, original, blob }: Sent): Row => ({
  mime_type: encode(mime_type),
  size_bytes,
  original,
  blob,
  status: "pending",
});

const described = ({ name, tags }: { name?: string | undefined; tags?: string[] | undefined }): Row => ({
  ...(name !== undefined && { name: encode(name) }),
  ...(tags !== undefined && { tags: encode(tags) }),
});

const uploaded = ({ organization_id, data, personal, recorded_at }: Of<"DocumentUploaded">): Change[] =>
  personal
    ? [
        {
          table: "documents",
          kind: "put",
          key: { id: data.document_id },
          row: {
            organization_id,
            collection_id: data.collection_id,
            source: data.source,
            external_id: encode(personal.external_id),
            ...sent(data),
            ...described(personal),
            created_at: recorded_at,
            updated_at: recorded_at,
          },
        },
      ]
    : [];

const read = (event: Of<"DocumentRead">): Change[] => {
  const { document_id, generation, text, passages, page_count, chunk_count } = event.data;
  const row = { text_blob: text, passages_blob: passages, page_count, chunk_count };
  return [{ table: "readings", kind: "put", key: { document_id, generation }, row }, patch(event, {})];
};

/** From here on search sees this generation; what the earlier ones left is gone. */
const indexed = (event: Of<"DocumentIndexed">): Change[] => {
  const { document_id, generation, indexed_at, unused } = event.data;
  const live = { status: "ready", error: null, live_generation: generation, indexed_at: new Date(indexed_at) };
  return [
    patch(event, live),
    ...unused.map(
      (blob): Change => ({
        table: "readings",
        kind: "removeWhere",
        where: { document_id, passages_blob: blob },
      }),
    ),
  ];
};

export const documents = defineProjection<DocumentEvent>({
  name: "documents",
  version: 1,
  tables: new URL("table.sql", import.meta.url),
  on: {
    DocumentUploaded: uploaded,
    DocumentReplaced: (event) => [
      patch(event, { ...sent(event.data), ...(event.personal && described(event.personal)), error: null }),
    ],
    DocumentChanged: (event) => [patch(event, event.personal ? described(event.personal) : {})],
    DocumentReprocessed: (event) => [patch(event, { status: "processing", error: null })],
    ReadingStarted: (event) => [patch(event, { status: "processing" })],
    DocumentRead: read,
    ReadingFailed: (event) => [patch(event, { status: "failed", error: encode(event.personal?.error) })],
    DocumentIndexed: indexed,
    IndexingFailed: (event) => [patch(event, { status: "failed", error: encode(event.personal?.error) })],
    DocumentDeleted: ({ data: { document_id } }) => [
      { table: "documents", kind: "remove", key: { id: document_id } },
      { table: "readings", kind: "removeWhere", where: { document_id } },
    ],
  },
});
