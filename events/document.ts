import { z } from "zod";
import { defineCommand, defineEvent, type CommandFrom, type EventFrom } from "./language.ts";
import { streamOf } from "./ids.ts";

const Id = z.object({ document_id: z.uuid() });

/** What was sent: a file, or text that was pushed. */
const Original = z.object({
  mime_type: z.string(),
  size_bytes: z.int().positive(),
  original: z.enum(["file", "text"]),
  /** Key of the blob that holds it, sealed with the document's data key. */
  blob: z.string(),
  /** Mark (see Keyring.mark) of the collection and the bytes: the same twice is one document. */
  content_claim: z.string(),
});
const Described = z.object({ name: z.string(), tags: z.array(z.string()), sha256: z.string() });
const Placed = Id.extend({
  collection_id: z.uuid(),
  source: z.enum(["api", "upload", "connector"]),
  /** Mark of the collection and the caller's own id. */
  external_claim: z.string().nullable(),
});

/**
 * Each time a document is read or cut into passages anew is a generation, 1, 2, 3 … Search sees one generation, the
 * live one, until the next is in the index. A result of another generation or of an older attempt is refused.
 */
const Work = Id.extend({ generation: z.int().positive(), attempt: z.int().positive() });

/** What reading came to. */
const Text = z.object({
  /** Key of the blob of the whole Markdown (UTF-8). */
  text: z.string(),
  /** Key of the blob of its passages (JSON). */
  passages: z.string(),
  /** Pages or slides; null where the type has none. */
  page_count: z.int().nullable(),
  chunk_count: z.int().nonnegative(),
  /** Code points of the Markdown. */
  characters: z.int().nonnegative(),
});

export const UploadDocument = defineCommand(
  "UploadDocument",
  "document",
  Placed.extend(Original.shape).extend(Described.shape).extend({ external_id: z.string().nullable() }),
);
/** New bytes for a document that the caller knows by an id of its own. */
export const ReplaceDocument = defineCommand(
  "ReplaceDocument",
  "document",
  Id.extend(Original.shape).extend(Described.shape),
);
export const ChangeDocument = defineCommand(
  "ChangeDocument",
  "document",
  Id.extend({ name: z.string().optional(), tags: z.array(z.string()).optional() }),
);
/** `reextract` reads the original again, which is charged; otherwise the stored Markdown is cut and indexed again. */
export const ReprocessDocument = defineCommand("ReprocessDocument", "document", Id.extend({ reextract: z.boolean() }));
export const DeleteDocument = defineCommand("DeleteDocument", "document", Id);
/** A worker takes a document that waits, or whose worker is gone. */
export const StartReading = defineCommand("StartReading", "document", Work.extend({ worker: z.string() }));
export const RecordText = defineCommand("RecordText", "document", Work.extend(Text.shape));
export const FailReading = defineCommand("FailReading", "document", Work.extend({ error: z.string() }));
/** Search finds this generation since `indexed_at`. */
export const ConfirmIndexed = defineCommand(
  "ConfirmIndexed",
  "document",
  Id.extend({ generation: z.int().positive(), indexed_at: z.iso.datetime() }),
);
export const FailIndexing = defineCommand(
  "FailIndexing",
  "document",
  Id.extend({ generation: z.int().positive(), error: z.string() }),
);

const thing = (data: { document_id: string }) => streamOf("document", data.document_id);
/** The process that has it in its queue; null when that has no room. */
const Queued = z.object({ generation: z.int().positive(), worker: z.string().nullable() });

export const DocumentUploaded = defineEvent("DocumentUploaded", {
  public: Placed.extend(Original.shape).extend(Queued.shape),
  personal: Described.extend({ external_id: z.string().nullable() }),
  thing,
  opens: true,
});
export const DocumentReplaced = defineEvent("DocumentReplaced", {
  public: Id.extend(Original.shape).extend(Queued.shape).extend({ released_claim: z.string() }),
  personal: Described,
  thing,
});
export const DocumentChanged = defineEvent("DocumentChanged", {
  public: Id,
  personal: z.object({ name: z.string().optional(), tags: z.array(z.string()).optional() }),
  thing,
});
export const DocumentReprocessed = defineEvent("DocumentReprocessed", {
  public: Id.extend(Queued.shape).extend({ reextract: z.boolean() }),
});
export const ReadingStarted = defineEvent("ReadingStarted", { public: Work.extend({ worker: z.string() }) });
export const DocumentRead = defineEvent("DocumentRead", { public: Work.extend(Text.shape) });
export const ReadingFailed = defineEvent("ReadingFailed", {
  public: Work,
  personal: z.object({ error: z.string() }),
  thing,
});
/** From here on search finds it. */
export const DocumentIndexed = defineEvent("DocumentIndexed", {
  public: Id.extend({
    generation: z.int().positive(),
    indexed_at: z.iso.datetime(),
    /** Billing units charged now (spec: Limits); 0 where the same reading was paid for before. */
    units: z.int().nonnegative(),
    /** Blobs of earlier generations that nothing names any more. */
    unused: z.array(z.string()),
  }),
});
export const IndexingFailed = defineEvent("IndexingFailed", {
  public: Id.extend({ generation: z.int().positive() }),
  personal: z.object({ error: z.string() }),
  thing,
});
export const DocumentDeleted = defineEvent("DocumentDeleted", {
  public: Id.extend({ collection_id: z.uuid(), content_claim: z.string(), external_claim: z.string().nullable() }),
});

export type DocumentCommand =
  | CommandFrom<typeof UploadDocument>
  | CommandFrom<typeof ReplaceDocument>
  | CommandFrom<typeof ChangeDocument>
  | CommandFrom<typeof ReprocessDocument>
  | CommandFrom<typeof DeleteDocument>
  | CommandFrom<typeof StartReading>
  | CommandFrom<typeof RecordText>
  | CommandFrom<typeof FailReading>
  | CommandFrom<typeof ConfirmIndexed>
  | CommandFrom<typeof FailIndexing>;
export type DocumentEvent =
  | EventFrom<typeof DocumentUploaded>
  | EventFrom<typeof DocumentReplaced>
  | EventFrom<typeof DocumentChanged>
  | EventFrom<typeof DocumentReprocessed>
  | EventFrom<typeof ReadingStarted>
  | EventFrom<typeof DocumentRead>
  | EventFrom<typeof ReadingFailed>
  | EventFrom<typeof DocumentIndexed>
  | EventFrom<typeof IndexingFailed>
  | EventFrom<typeof DocumentDeleted>;
