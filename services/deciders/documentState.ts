import type { DocumentEvent } from "#events/document.ts";
import { unitsOf } from "./units.ts";

/** What a generation was read into. */
export interface ReadText {
  generation: number;
  /** Keys of the blobs of its Markdown and of its passages. */
  text: string;
  passages: string;
  units: number;
}

export interface StoredDocument {
  /** Of its newest generation: waits for a reader, is read, waits for the index, is found, could not be read or indexed. */
  status: "queued" | "reading" | "indexing" | "ready" | "failed";
  collection_id: string;
  content_claim: string;
  external_claim: string | null;
  original: "file" | "text";
  mime_type: string;
  blob: string;
  generation: number;
  /** Of the newest generation; 0 until a worker begins. */
  attempt: number;
  worker: string | null;
  /** The original is to be read, even where its Markdown is there. */
  reextract: boolean;
  /** Whether a reading of this original was charged. */
  paid: boolean;
  /** The newest reading of this original. */
  text: ReadText | null;
  /** What search finds. */
  live: ReadText | null;
  /** Every blob that the document has named and not given up. */
  blobs: string[];
}

export type DocumentState = { status: "absent" } | StoredDocument | { status: "deleted" };

/** The document while there is one. */
export const stored = (state: DocumentState): StoredDocument | undefined =>
  state.status === "absent" || state.status === "deleted" ? undefined : state;

/** Blobs that nothing names any more once the newest text serves. */
export function unusedBlobs({ blobs, blob, text }: StoredDocument): string[] {
  const named = new Set([blob, text?.text, text?.passages]);
  return blobs.filter((key) => !named.has(key));
}

export function evolve(state: DocumentState, event: DocumentEvent): DocumentState {
  if (event.type === "DocumentUploaded") {
    const { collection_id, content_claim, external_claim, original, mime_type, blob, generation, worker } = event.data;
    const placed = { collection_id, content_claim, external_claim, original, mime_type, blob, blobs: [blob] };
    const fresh = { attempt: 0, reextract: false, paid: false, text: null, live: null };
    return { status: "queued", ...placed, ...fresh, generation, worker };
  }
  const before = stored(state);
  return before ? evolveStored(before, event) : state;
}

function evolveStored(
  before: StoredDocument,
  event: Exclude<DocumentEvent, { type: "DocumentUploaded" }>,
): DocumentState {
  switch (event.type) {
    case "DocumentReplaced": {
      const { content_claim, original, mime_type, blob, generation, worker } = event.data;
      const fresh = { attempt: 0, reextract: false, paid: false, text: null, blobs: [...before.blobs, blob] };
      return { ...before, status: "queued", content_claim, original, mime_type, blob, generation, worker, ...fresh };
    }
    case "DocumentReprocessed": {
      const { generation, worker, reextract } = event.data;
      return { ...before, status: "queued", generation, worker, reextract, attempt: 0 };
    }
    case "ReadingStarted":
      return { ...before, status: "reading", attempt: event.data.attempt, worker: event.data.worker };
    case "DocumentRead": {
      const { generation, text, passages } = event.data;
      const blobs = [...new Set([...before.blobs, text, passages])];
      return { ...before, status: "indexing", text: { generation, text, passages, units: unitsOf(event.data) }, blobs };
    }
    case "DocumentIndexed": {
      const gone = new Set(event.data.unused);
      const blobs = before.blobs.filter((key) => !gone.has(key));
      return { ...before, status: "ready", reextract: false, paid: true, live: before.text, blobs };
    }
    case "ReadingFailed":
    case "IndexingFailed":
      return { ...before, status: "failed", reextract: false };
    case "DocumentDeleted":
      return { status: "deleted" };
    case "DocumentChanged":
      return before;
  }
}
