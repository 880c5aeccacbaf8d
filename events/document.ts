import { z } from "zod";
import { defineCommand, defineEvent, type CommandsIn, type EventsIn } from "./language.ts";
import { streamName } from "./ids.ts";
import { Money } from "./money.ts";
import { PagePrice } from "./price.ts";
import { Usage } from "./turnOutput.ts";
import { DocumentDetails } from "./documentDetails.ts";
import { ReadingWarning } from "./readingWarnings.ts";
import { OcrLanguages, RecognizedLanguages } from "./ocrLanguages.ts";

const Id = z.object({ document_id: z.uuid() });

/** The uploaded file, or the pushed text. */
const Original = z.object({
  mime_type: z.string(),
  size_bytes: z.int().positive(),
  original: z.enum(["file", "text"]),
  /** Key of its blob, sealed with the document's data key. */
  blob: z.string(),
  /** Keyed hash (see Keyring.keyedHash) of the collection and the bytes: a collection holds the same bytes once. */
  content_claim: z.string(),
  /** The project of the run whose step stored it, for the project's budgets; absent for everything else. */
  project_id: z.uuid().optional(),
});
const Personal = DocumentDetails.extend({ name: z.string(), tags: z.array(z.string()), sha256: z.string() });
const Change = DocumentDetails.extend({ name: z.string().optional(), tags: z.array(z.string()).optional() });
const Placement = Id.extend({
  collection_id: z.uuid(),
  source: z.enum(["api", "upload", "connector"]),
  /** Keyed hash of the collection and the id that the caller gave the document. */
  external_claim: z.string().nullable(),
});

/**
 * Reading a document, or cutting it into passages again, produces its next generation: 1, 2, 3 … Search shows the live
 * generation until the next one is indexed. Results of other generations and of older attempts are ignored.
 */
const Work = Id.extend({ generation: z.int().positive(), attempt: z.int().positive() });

/** The result of reading a document. */
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
  /** What the reader left out; absent if nothing. */
  warnings: z.array(ReadingWarning).optional(),
  ocr_languages: RecognizedLanguages,
});

export const UploadDocument = defineCommand(
  "UploadDocument",
  "document",
  Placement.extend(Original.shape).extend(Personal.shape).extend({ external_id: z.string().nullable() }),
);
/** Replaces the bytes of a document that the caller addresses by its own id. */
export const ReplaceDocument = defineCommand(
  "ReplaceDocument",
  "document",
  Id.extend(Original.shape).extend(Personal.shape),
);
export const ChangeDocument = defineCommand("ChangeDocument", "document", Id.extend(Change.shape));
/** `reextract` reads the original again and is charged. Otherwise the stored Markdown is cut and indexed again. */
export const ReprocessDocument = defineCommand("ReprocessDocument", "document", Id.extend({ reextract: z.boolean() }));
/** Reads the original again in these languages. Not a field of ReprocessDocument, which processes of older releases would drop (ADR 92). */
export const RereadDocument = defineCommand("RereadDocument", "document", Id.extend({ ocr_languages: OcrLanguages }));
export const DeleteDocument = defineCommand("DeleteDocument", "document", Id);
/** A worker claims a queued document, or one whose worker is gone. */
export const StartReading = defineCommand("StartReading", "document", Work.extend({ worker: z.string() }));
export const RecordText = defineCommand("RecordText", "document", Work.extend(Text.shape));
export const FailReading = defineCommand("FailReading", "document", Work.extend({ error: z.string() }));
/** From `indexed_at` on, search finds this generation. */
export const ConfirmIndexed = defineCommand(
  "ConfirmIndexed",
  "document",
  Id.extend({ generation: z.int().positive(), indexed_at: z.iso.datetime(), per_page: PagePrice }),
);
export const FailIndexing = defineCommand(
  "FailIndexing",
  "document",
  Id.extend({ generation: z.int().positive(), error: z.string() }),
);

/** Vectors of some texts of a generation. Each is found by the mark of its text, so that a later generation reuses it. */
const Vectors = Id.extend({
  generation: z.int().positive(),
  /** Names the model and its address: vectors of different spaces cannot be compared. */
  space: z.string(),
  dimensions: z.int().positive(),
  /** Key of the blob of the vectors; null if all were known. */
  blob: z.string().nullable(),
  /** Whether this generation has all of its vectors now. */
  complete: z.boolean(),
  /** The model, and the tokens that were paid for: embeddings have prompt tokens only. */
  model: z.string(),
  usage: Usage,
});

/** A services process has received vectors from the organization's endpoint. */
export const RecordVectors = defineCommand("RecordVectors", "document", Vectors);

const thing = (data: { document_id: string }) => streamName("document", data.document_id);
/** `worker`: the process whose queue holds the document; null if that queue is full. */
const QueueEntry = z.object({ generation: z.int().positive(), worker: z.string().nullable() });

export const DocumentUploaded = defineEvent("DocumentUploaded", {
  public: Placement.extend(Original.shape).extend(QueueEntry.shape),
  personal: Personal.extend({ external_id: z.string().nullable() }),
  thing,
  opens: true,
});
export const DocumentReplaced = defineEvent("DocumentReplaced", {
  public: Id.extend(Original.shape).extend(QueueEntry.shape).extend({ released_claim: z.string() }),
  personal: Personal,
  thing,
});
export const DocumentChanged = defineEvent("DocumentChanged", {
  public: Id,
  personal: Change,
  thing,
});
export const DocumentReprocessed = defineEvent("DocumentReprocessed", {
  public: Id.extend(QueueEntry.shape).extend({
    reextract: z.boolean(),
    /** The languages that text recognition shall look for; absent: those of the text before. */
    ocr_languages: z.array(z.string()).optional(),
  }),
});
export const ReadingStarted = defineEvent("ReadingStarted", { public: Work.extend({ worker: z.string() }) });
export const DocumentRead = defineEvent("DocumentRead", { public: Work.extend(Text.shape) });
export const ReadingFailed = defineEvent("ReadingFailed", {
  public: Work,
  personal: z.object({ error: z.string() }),
  thing,
});
/** From this event on, search shows the generation. */
export const DocumentIndexed = defineEvent("DocumentIndexed", {
  public: Id.extend({
    generation: z.int().positive(),
    indexed_at: z.iso.datetime(),
    /** Billing units charged now (spec: Limits); 0 if the same reading was already paid for. */
    units: z.int().nonnegative(),
    /** The cost of these units; absent if a page has no price or nothing is charged. */
    cost: Money.optional(),
    /** Keys of blobs of earlier generations that nothing references any more. */
    unused: z.array(z.string()),
  }),
});
export const IndexingFailed = defineEvent("IndexingFailed", {
  public: Id.extend({ generation: z.int().positive() }),
  personal: z.object({ error: z.string() }),
  thing,
});
/** `unused`: keys of blobs that are no longer needed, because their vectors are of another space. */
export const PassagesEmbedded = defineEvent("PassagesEmbedded", {
  public: Vectors.extend({ unused: z.array(z.string()) }),
});
export const DocumentDeleted = defineEvent("DocumentDeleted", {
  public: Id.extend({ collection_id: z.uuid(), content_claim: z.string(), external_claim: z.string().nullable() }),
});

export type DocumentCommand = CommandsIn<typeof import("./document.ts")>;
export type DocumentEvent = EventsIn<typeof import("./document.ts")>;
