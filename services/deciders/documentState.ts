import type { DocumentEvent } from "#events/document.ts";
import type { ReadingWarning } from "#events/readingWarnings.ts";
import { billingUnits } from "./billingUnits.ts";

/** The result of reading one generation. */
export interface GenerationText {
  generation: number;
  /** Keys of the blobs of its Markdown and of its passages. */
  text: string;
  passages: string;
  units: number;
  warnings?: ReadingWarning[];
  /** The languages that text recognition looked for; absent if it read no page. */
  ocr_languages?: string[];
}

/** The vectors of a document's texts. */
export interface StoredVectors {
  space: string;
  dimensions: number;
  /** Keys of their blobs. */
  blobs: string[];
  /** The newest generation with all of its vectors; 0: none. */
  complete: number;
}

/** Maximum replaced texts of a document that stay readable. */
const MAX_EARLIER = 20;

export interface StoredDocument {
  /** Of the newest generation. `failed`: it could not be read or indexed. */
  status: "queued" | "reading" | "indexing" | "ready" | "failed";
  collection_id: string;
  content_claim: string;
  external_claim: string | null;
  original: "file" | "text";
  mime_type: string;
  blob: string;
  generation: number;
  /** The attempt at reading the newest generation; 0 until a worker starts. */
  attempt: number;
  worker: string | null;
  /** Whether to read the original again even if its Markdown is stored. */
  reextract: boolean;
  /** The languages that text recognition shall look for; absent: those of the text before. */
  ocr_languages?: string[];
  /** Whether the newest reading of this original was charged. */
  paid: boolean;
  /** The newest reading of this original. */
  text: GenerationText | null;
  /** The generation that search shows. */
  live: GenerationText | null;
  /** The texts that citations may refer to: what search showed before each replacement, oldest first. */
  earlier: GenerationText[];
  /** Absent if no endpoint has made any yet. */
  vectors?: StoredVectors;
  /** Keys of all blobs that still exist. */
  blobs: string[];
}

export type DocumentState = { status: "absent" } | StoredDocument | { status: "deleted" };

/** The document; undefined if it was never uploaded or is deleted. */
export const storedDocument = (state: DocumentState): StoredDocument | undefined =>
  state.status === "absent" || state.status === "deleted" ? undefined : state;

/** Blobs that nothing references once search shows the newest text. Earlier texts stay, because citations refer to them. */
export function unusedBlobs({ blobs, blob, text, earlier, vectors }: StoredDocument): string[] {
  const read = [...earlier, ...(text ? [text] : [])];
  const used = new Set([blob, ...read.flatMap(({ text, passages }) => [text, passages]), ...(vectors?.blobs ?? [])]);
  return blobs.filter((key) => !used.has(key));
}

/** The next vectors replace this many blobs of a document, so that one that is replaced daily does not grow forever. */
const MAX_VECTOR_BLOBS = 100;

/** The recorded vectors to keep beside new ones of `space`. Undefined if they are of another space, or too many. */
export function keptVectors({ vectors }: StoredDocument, space: string): StoredVectors | undefined {
  return vectors?.space === space && vectors.blobs.length < MAX_VECTOR_BLOBS ? vectors : undefined;
}

function addVectors(before: StoredDocument, { data }: Extract<DocumentEvent, { type: "PassagesEmbedded" }>) {
  const { space, dimensions, blob, complete, generation, unused } = data;
  const gone = new Set(unused);
  const added = blob === null ? [] : [blob];
  const kept = before.vectors?.space === space ? before.vectors : undefined;
  const vectors: StoredVectors = {
    space,
    dimensions,
    blobs: [...(kept?.blobs ?? []).filter((key) => !gone.has(key)), ...added],
    complete: complete ? generation : (kept?.complete ?? 0),
  };
  return { ...before, vectors, blobs: [...before.blobs.filter((key) => !gone.has(key)), ...added] };
}

export function evolve(state: DocumentState, event: DocumentEvent): DocumentState {
  if (event.type === "DocumentUploaded") {
    const { collection_id, content_claim, external_claim, original, mime_type, blob, generation, worker } = event.data;
    const upload = { collection_id, content_claim, external_claim, original, mime_type, blob, blobs: [blob] };
    const fresh = { attempt: 0, reextract: false, paid: false, text: null, live: null, earlier: [] };
    return { status: "queued", ...upload, ...fresh, generation, worker };
  }
  const before = storedDocument(state);
  return before ? evolveStored(before, event) : state;
}

const withoutLanguages = ({ ocr_languages: _, ...others }: StoredDocument): StoredDocument => others;

function evolveStored(
  before: StoredDocument,
  event: Exclude<DocumentEvent, { type: "DocumentUploaded" }>,
): DocumentState {
  switch (event.type) {
    case "DocumentReplaced": {
      const { content_claim, original, mime_type, blob, generation, worker } = event.data;
      const known = new Set(before.earlier.map((text) => text.generation));
      const shown = before.live && !known.has(before.live.generation) ? [before.live] : [];
      const earlier = [...before.earlier, ...shown].slice(-MAX_EARLIER);
      const fresh = { attempt: 0, reextract: false, paid: false, text: null, blobs: [...before.blobs, blob], earlier };
      const queued = { ...withoutLanguages(before), status: "queued" as const, ...fresh };
      return { ...queued, content_claim, original, mime_type, blob, generation, worker };
    }
    case "DocumentReprocessed": {
      const { generation, worker, reextract, ocr_languages } = event.data;
      const queued = { status: "queued" as const, generation, worker, reextract, attempt: 0 };
      return { ...withoutLanguages(before), ...queued, ...(ocr_languages && { ocr_languages }) };
    }
    case "ReadingStarted":
      return { ...before, status: "reading", attempt: event.data.attempt, worker: event.data.worker };
    case "DocumentRead": {
      const { generation, text, passages, warnings, ocr_languages } = event.data;
      const blobs = [...new Set([...before.blobs, text, passages])];
      const kept = { ...(warnings && { warnings }), ...(ocr_languages && { ocr_languages }) };
      const read = { generation, text, passages, units: billingUnits(event.data), ...kept };
      // what was read again is charged once it is indexed, even after several attempts
      return { ...before, status: "indexing", text: read, blobs, paid: before.paid && !before.reextract };
    }
    case "DocumentIndexed": {
      const unused = new Set(event.data.unused);
      const blobs = before.blobs.filter((key) => !unused.has(key));
      // earlier versions deleted the texts that were replaced
      const earlier = before.earlier.filter(({ passages }) => !unused.has(passages));
      return { ...before, status: "ready", reextract: false, paid: true, live: before.text, earlier, blobs };
    }
    case "ReadingFailed":
    case "IndexingFailed":
      return { ...before, status: "failed", reextract: false };
    case "PassagesEmbedded":
      return addVectors(before, event);
    case "DocumentDeleted":
      return { status: "deleted" };
    case "DocumentChanged":
      return before;
  }
}
