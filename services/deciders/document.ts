import type { Claim, Decider } from "#events/decider.ts";
import type { CommandFrom } from "#events/envelope.ts";
import {
  DocumentChanged,
  DocumentDeleted,
  DocumentIndexed,
  DocumentRead,
  DocumentReplaced,
  DocumentReprocessed,
  DocumentUploaded,
  IndexingFailed,
  PassagesEmbedded,
  ReadingFailed,
  ReadingStarted,
  type DocumentCommand,
  type DocumentEvent,
  type ReplaceDocument,
  type ReprocessDocument,
  type RereadDocument,
} from "#events/document.ts";
import { costOfPages } from "#events/price.ts";
import { Rejection } from "#events/rejection.ts";
import {
  evolve,
  keptVectors,
  storedDocument,
  unusedBlobs,
  type DocumentState,
  type StoredDocument,
} from "./documentState.ts";
import { eraseOn } from "./keyErasure.ts";

const sameContent: Claim["rejection"] = {
  code: "identical_content",
  message: "This collection has a document with these bytes already.",
};
const externalIdTaken: Claim["rejection"] = {
  code: "external_id_taken",
  message: "This collection has a document of this external_id already.",
};
/** Whether a text was replaced by the same text in another format or as a file. */
const keepsClaim = ({ data }: Extract<DocumentEvent, { type: "DocumentReplaced" }>): boolean =>
  data.content_claim === data.released_claim;
const contentName = (claim: string) => `content:${claim}`;
const externalName = (claim: string) => `external:${claim}`;

function requireDocument(state: DocumentState): StoredDocument {
  const found = storedDocument(state);
  if (!found) throw new Rejection("not_found", "No such document.");
  return found;
}

/** The document, if `generation` is its newest and its status matches. Results of other generations change nothing. */
function findNewest(state: DocumentState, status: StoredDocument["status"][], generation: number) {
  const found = storedDocument(state);
  return found && found.generation === generation && status.includes(found.status) ? found : undefined;
}

function isReading(state: DocumentState, { generation, attempt }: { generation: number; attempt: number }): boolean {
  return findNewest(state, ["reading"], generation)?.attempt === attempt;
}

/** Whether the document has this content already. The same text in another format is read differently, and a file replaces a text because its original is kept. */
const hasContent = (
  before: StoredDocument,
  { content_claim, mime_type, original }: Pick<StoredDocument, "content_claim" | "mime_type" | "original">,
): boolean =>
  content_claim === before.content_claim &&
  (before.original === "file" || (original === "text" && mime_type === before.mime_type));

function replace(command: CommandFrom<typeof ReplaceDocument>, before: StoredDocument): DocumentEvent[] {
  const { name, tags, metadata, readers, sha256, ...data } = command.data;
  const queued = { generation: before.generation + 1, worker: command.worker ?? null };
  // It is stored or being processed already. If that failed, it is tried again.
  if (hasContent(before, data))
    return before.status === "failed"
      ? [DocumentReprocessed.of({ document_id: data.document_id, reextract: false, ...queued })]
      : [];
  return [
    DocumentReplaced.of(
      { ...data, ...queued, released_claim: before.content_claim },
      { name, tags, metadata, readers, sha256 },
    ),
  ];
}

type Reprocessing = CommandFrom<typeof ReprocessDocument> | CommandFrom<typeof RereadDocument>;

function reprocess(command: Reprocessing, before: StoredDocument): DocumentEvent[] {
  const { document_id } = command.data;
  const languages = "ocr_languages" in command.data && { ocr_languages: command.data.ocr_languages };
  const reextract = "ocr_languages" in command.data || command.data.reextract;
  if (before.status !== "ready" && before.status !== "failed")
    throw new Rejection("already_processing", "This document is being processed already.");
  if (reextract && before.original === "text")
    throw new Rejection("no_stored_file", "This document was pushed as text: there is no file to read again.");
  const queued = { generation: before.generation + 1, worker: command.worker ?? null };
  return [DocumentReprocessed.of({ document_id, reextract, ...languages, ...queued })];
}

export const document: Decider<DocumentState, DocumentCommand, DocumentEvent> = {
  version: 4,
  initial: { status: "absent" },

  decide(command, state) {
    switch (command.type) {
      case "UploadDocument": {
        if (state.status !== "absent") throw new Rejection("document_exists", "This document was uploaded already.");
        const { name, tags, metadata, readers, sha256, external_id, ...data } = command.data;
        const queued = { generation: 1, worker: command.worker ?? null };
        const personal = { name, tags, metadata, readers, sha256, external_id };
        return [DocumentUploaded.of({ ...data, ...queued }, personal)];
      }
      case "ReplaceDocument":
        return replace(command, requireDocument(state));
      case "ChangeDocument": {
        requireDocument(state);
        const { document_id, ...change } = command.data;
        return Object.values(change).some((value) => value !== undefined)
          ? [DocumentChanged.of({ document_id }, change)]
          : [];
      }
      case "ReprocessDocument":
      case "RereadDocument":
        return reprocess(command, requireDocument(state));
      case "DeleteDocument": {
        const { collection_id, content_claim, external_claim } = requireDocument(state);
        return [DocumentDeleted.of({ ...command.data, collection_id, content_claim, external_claim })];
      }
      case "StartReading": {
        const before = findNewest(state, ["queued", "reading"], command.data.generation);
        return before?.attempt === command.data.attempt - 1 ? [ReadingStarted.of(command.data)] : [];
      }
      case "RecordText":
        return isReading(state, command.data) ? [DocumentRead.of(command.data)] : [];
      case "FailReading": {
        const { error, ...data } = command.data;
        return isReading(state, data) ? [ReadingFailed.of(data, { error })] : [];
      }
      case "ConfirmIndexed": {
        const before = findNewest(state, ["indexing"], command.data.generation);
        if (!before?.text) return [];
        const units = before.paid ? 0 : before.text.units;
        const { per_page, ...data } = command.data;
        return [DocumentIndexed.of({ ...data, units, ...costOfPages(units, per_page), unused: unusedBlobs(before) })];
      }
      case "RecordVectors": {
        const before = storedDocument(state);
        const { generation, space, blob } = command.data;
        if (before?.live?.generation !== generation) return [];
        const kept = keptVectors(before, space);
        // a replaced worker may record its vectors, too
        if (kept?.complete === generation || (blob !== null && before.blobs.includes(blob))) return [];
        const unused = kept ? [] : (before.vectors?.blobs ?? []);
        return [PassagesEmbedded.of({ ...command.data, unused })];
      }
      case "FailIndexing": {
        const { error, ...data } = command.data;
        return findNewest(state, ["indexing"], data.generation) ? [IndexingFailed.of(data, { error })] : [];
      }
    }
  },

  evolve,

  workStatus(state) {
    if (state.status === "queued") return { status: "pending", due_at: null, worker: state.worker };
    if (state.status === "reading") return { status: "processing", due_at: null, worker: state.worker };
    // A document that waits for the index needs no worker: the index follower finds it behind its checkpoint.
    return { status: null, due_at: null, worker: null };
  },

  erases: eraseOn("DocumentDeleted"),

  claims: (events) => ({
    hold: events.flatMap((event) => {
      if (event.type !== "DocumentUploaded" && event.type !== "DocumentReplaced") return [];
      if (event.type === "DocumentReplaced" && keepsClaim(event)) return [];
      const content = { name: contentName(event.data.content_claim), rejection: sameContent };
      if (event.type === "DocumentReplaced" || event.data.external_claim === null) return [content];
      return [content, { name: externalName(event.data.external_claim), rejection: externalIdTaken }];
    }),
    release: events.flatMap((event) => {
      if (event.type === "DocumentReplaced") return keepsClaim(event) ? [] : [contentName(event.data.released_claim)];
      if (event.type !== "DocumentDeleted") return [];
      const { content_claim, external_claim } = event.data;
      return [contentName(content_claim), ...(external_claim === null ? [] : [externalName(external_claim)])];
    }),
  }),
};
