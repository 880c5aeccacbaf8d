import type { DocumentEvent } from "#events/document.ts";
import type { DocumentDetails } from "#events/documentDetails.ts";
import type { RecordedEvent } from "#events/envelope.ts";
import {
  defineProjection,
  encode,
  patchRow,
  putRow,
  removeRow,
  removeRows,
  type Change,
  type Row,
} from "../projection.ts";

type EventRecord<T extends DocumentEvent["type"]> = RecordedEvent<Extract<DocumentEvent, { type: T }>>;

const patch = ({ data, recorded_at }: Pick<EventRecord<"DocumentChanged">, "data" | "recorded_at">, row: Row): Change =>
  patchRow("documents", data.document_id, { ...row, updated_at: recorded_at });

type Original = Pick<EventRecord<"DocumentReplaced">["data"], "mime_type" | "size_bytes" | "original" | "blob">;
/** Columns of a new original, which waits to be read. */
const originalColumns = ({ mime_type, size_bytes, original, blob }: Original): Row => ({
  mime_type: encode(mime_type),
  size_bytes,
  original,
  blob,
  status: "pending",
});

type Description = DocumentDetails & { name?: string | undefined; tags?: string[] | undefined };

const descriptionColumns = ({ name, tags, metadata, readers }: Description): Row => ({
  ...(name !== undefined && { name: encode(name) }),
  ...(tags !== undefined && { tags: encode(tags) }),
  ...(metadata !== undefined && { metadata: encode(metadata) }),
  ...(readers !== undefined && { readers: encode(readers) }),
});

const applyUpload = ({ organization_id, data, personal, recorded_at }: EventRecord<"DocumentUploaded">): Change[] =>
  personal
    ? [
        putRow("documents", data.document_id, {
          organization_id,
          collection_id: data.collection_id,
          source: data.source,
          external_id: encode(personal.external_id),
          ...originalColumns(data),
          ...descriptionColumns(personal),
          created_at: recorded_at,
          updated_at: recorded_at,
        }),
      ]
    : [];

const applyReading = (event: EventRecord<"DocumentRead">): Change[] => {
  const { document_id, generation, text, passages, page_count, chunk_count, warnings } = event.data;
  const row = { text_blob: text, passages_blob: passages, page_count, chunk_count, warnings: encode(warnings) };
  return [putRow("readings", { document_id, generation }, row), patch(event, {})];
};

/** From now on search shows this generation. Removes the readings of earlier generations. */
const applyIndexing = (event: EventRecord<"DocumentIndexed">): Change[] => {
  const { document_id, generation, indexed_at, unused } = event.data;
  const live = { status: "ready", error: null, live_generation: generation, indexed_at: new Date(indexed_at) };
  return [
    patch(event, live),
    ...unused.map((blob): Change => removeRows("readings", { document_id, passages_blob: blob })),
  ];
};

export const documents = defineProjection<DocumentEvent>({
  name: "documents",
  version: 4,
  tables: new URL("table.sql", import.meta.url),
  on: {
    DocumentUploaded: applyUpload,
    DocumentReplaced: (event) => [
      patch(event, {
        ...originalColumns(event.data),
        ...(event.personal && descriptionColumns(event.personal)),
        error: null,
      }),
    ],
    DocumentChanged: (event) => [patch(event, event.personal ? descriptionColumns(event.personal) : {})],
    DocumentReprocessed: (event) => [patch(event, { status: "processing", error: null })],
    ReadingStarted: (event) => [patch(event, { status: "processing" })],
    DocumentRead: applyReading,
    ReadingFailed: (event) => [patch(event, { status: "failed", error: encode(event.personal?.error) })],
    DocumentIndexed: applyIndexing,
    IndexingFailed: (event) => [patch(event, { status: "failed", error: encode(event.personal?.error) })],
    PassagesEmbedded: ({ data }) =>
      data.complete
        ? [patchRow("documents", data.document_id, { vector_space: data.space, vector_generation: data.generation })]
        : [],
    DocumentDeleted: ({ data: { document_id } }) => [
      removeRow("documents", document_id),
      removeRows("readings", { document_id }),
    ],
  },
});
