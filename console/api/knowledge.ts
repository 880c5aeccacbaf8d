import { queryOptions } from "@tanstack/react-query";
import { address, call, itemPath, nullIfMissing, pageQuery, queryAll, queryOne, send } from "./call.ts";
import { byId } from "./readAll.ts";
import { upload, type Upload } from "./upload.ts";
import type { Page, ReadingProgress } from "./types.ts";

/* Collections, documents, passages and search. */

export const DOCUMENT_STATUSES = ["pending", "processing", "ready", "failed"] as const;
export type DocumentStatus = (typeof DOCUMENT_STATUSES)[number];

export interface Collection {
  id: string;
  slug: string;
  name: string;
  description: string;
  documents: { ready: number; pending: number; failed: number; total: number; bytes: number };
  updated_at: string;
}

export interface DocumentInfo {
  id: string;
  collection_id: string;
  name: string;
  mime_type: string;
  size_bytes: number;
  status: DocumentStatus;
  error?: string;
  /** Set while the text of scanned pages is recognized. */
  progress?: ReadingProgress;
  page_count?: number;
  /** Parts of the file that its text lacks. */
  warnings?: DocumentWarning[];
  chunk_count: number;
  tags: string[];
  metadata?: Metadata;
  /** Absent if everybody who may read the collection may read it. */
  readers?: Reader[];
  /** The caller's own id of a pushed text. */
  external_id?: string;
  created_at: string;
  updated_at: string;
  indexed_at?: string;
}

export interface DocumentWarning {
  code: string;
  message: string;
}

/** The organization's own keys and values. */
export type Metadata = Record<string, string | number | boolean>;

/** The people who may read a document with named readers. */
export type Reader = { person: string } | { group: string } | { role: string } | { external_user: string };

/** The fields of a document that can be changed. `readers` null opens it to everybody. */
export interface DocumentChange {
  name?: string;
  tags?: string[];
  metadata?: Metadata;
  readers?: Reader[] | null;
}

/** A text of a document that can be read. */
export interface DocumentVersion {
  version: number;
  /** Whether search uses this version. */
  current: boolean;
  chunk_count: number;
  indexed_at: string | null;
}

export interface Passage {
  seq: number;
  page: number | null;
  section: string | null;
  start: number;
  end: number;
  /** The header of the table whose rows the text continues. */
  table_header?: string;
  text: string;
}

export interface Passages {
  data: Passage[];
  total: number;
  next_from_seq: number | null;
}

export const DOCUMENTS_PER_PAGE = 50;
export const PASSAGES_PER_PAGE = 40;
/** The counts of collections come from a summary whose changes no event reports. */
const SUMMARY_MS = 5_000;
/** No event reports the progress of a document that is being read. */
const PROGRESS_MS = 2_000;
const isBeingRead = ({ status }: DocumentInfo): boolean => status === "processing";

const pathOfCollection = (reference: string) => itemPath("v1/knowledge/collections", reference);

export const listCollections = queryOptions({
  queryKey: ["collection", "list"],
  queryFn: queryAll<Collection>("v1/knowledge/collections", byId),
  refetchInterval: SUMMARY_MS,
  refetchOnMount: "always",
});

/** By slug or id. */
export const getCollection = (reference: string) =>
  queryOptions({
    queryKey: ["collection", "one", reference],
    queryFn: queryOne<Collection>(pathOfCollection(reference)),
  });

export const createCollection = (name: string) =>
  call<Collection>("v1/knowledge/collections", { method: "POST", body: { name } });
export const changeCollection = (reference: string, body: { name: string; description: string | null }) =>
  call<Collection>(pathOfCollection(reference), { method: "PATCH", body });
/** Also deletes its documents. */
export const deleteCollection = (reference: string) => call<void>(pathOfCollection(reference), { method: "DELETE" });

/** One page of a collection's documents, newest first; `page` counts from 0. */
export const listDocuments = (reference: string, status: DocumentStatus | undefined, page: number) =>
  queryOptions({
    queryKey: ["document", "list", reference, status, page],
    queryFn: queryOne<Page<DocumentInfo>>(`${pathOfCollection(reference)}/documents`, {
      status,
      ...pageQuery(page, DOCUMENTS_PER_PAGE),
    }),
    placeholderData: (previous) => previous,
    refetchInterval: ({ state }) => (state.data?.data.some(isBeingRead) ? PROGRESS_MS : false),
  });

/** The number of documents of a collection with a given status, or with any. */
export const countDocuments = (reference: string, status?: DocumentStatus) =>
  queryOptions({
    queryKey: ["document", "count", reference, status],
    queryFn: async ({ signal }) => {
      const path = `${pathOfCollection(reference)}/documents`;
      return (await call<Page<DocumentInfo>>(path, { signal, query: { status, limit: 1 } })).total;
    },
  });

/** Whether the file of a document is stored. */
const hasFile = (id: string, signal: AbortSignal): Promise<boolean> =>
  nullIfMissing(send(`${pathOf(id)}/content`, { method: "HEAD", signal })).then((found) => found !== null);
const pathOf = (id: string) => itemPath("v1/knowledge/documents", id);

export const getDocument = (id: string) =>
  queryOptions({
    queryKey: ["document", "one", id],
    queryFn: queryOne<DocumentInfo>(pathOf(id)),
    refetchInterval: ({ state }) => (state.data && isBeingRead(state.data) ? PROGRESS_MS : false),
  });

export const changeDocument = (id: string, body: DocumentChange) =>
  call<DocumentInfo>(pathOf(id), { method: "PATCH", body });

/** The stored versions, newest first: twenty, and the one that search uses. */
export const listVersions = (id: string) =>
  queryOptions({
    queryKey: ["document", "versions", id],
    queryFn: queryOne<Page<DocumentVersion>>(`${pathOf(id)}/versions`, { limit: 100 }),
  });

/** The download address of the original file, or of the text if it was pushed without a file. */
export const getOriginal = ({ id, mime_type }: Pick<DocumentInfo, "id" | "mime_type">) =>
  queryOptions({
    queryKey: ["document", "original", id],
    queryFn: async ({ signal }) => {
      const file = `${pathOf(id)}/content`;
      // only Markdown and plain text can be pushed
      const isFile = !mime_type.startsWith("text/") || (await hasFile(id, signal));
      return { address: address(isFile ? file : `${pathOf(id)}/text`).href, isFile };
    },
  });

/** `page`: start at the first passage of this page. `version`: the version of the text that a citation names, else the newest. */
export const listPassages = (
  id: string,
  from: { seq: number } | { page: number },
  { limit, version }: { limit: number; version: number | undefined },
) =>
  queryOptions({
    queryKey: ["document", "passages", id, from, limit, version],
    queryFn: queryOne<Passages>(`${pathOf(id)}/passages`, {
      ...("page" in from ? { from_page: from.page } : { from_seq: from.seq }),
      limit,
      version,
    }),
    placeholderData: (previous, query) => (query?.queryKey[2] === id ? previous : undefined),
  });

/** Reads the file of a failed document again. */
export const retryDocument = (id: string) =>
  call<DocumentInfo>(`${pathOf(id)}/reprocess`, { method: "POST", query: { reextract: "true" }, body: {} });

/** Sends one file to a collection (slug or id). */
export const uploadDocument = (collection: string, file: Upload) =>
  upload<DocumentInfo>(address(`${pathOfCollection(collection)}/documents`), file);
/**
 * Replaces the file of a document that could not be read. The old document is deleted once the new one is stored, which takes over
 * its tags, metadata and readers.
 */
export async function replaceDocument(document: DocumentInfo, file: File): Promise<DocumentInfo> {
  const { id, collection_id, tags, metadata, readers } = document;
  const fields = {
    tags: JSON.stringify(tags),
    ...(metadata && { metadata: JSON.stringify(metadata) }),
    ...(readers && { readers: JSON.stringify(readers) }),
  };
  const sending = { file, fields, signal: new AbortController().signal, onProgress: () => {} };
  const { answer, isNew } = await uploadDocument(collection_id, sending);
  // for the same bytes the service reads the file again
  if (answer.id === id) return answer;
  if (!isNew) throw new Error(`The collection has this file already, as “${answer.name}”. Delete this one instead.`);
  await deleteDocument(id);
  return answer;
}
export const addText = (collection: string, body: { name: string; text: string }) =>
  call<DocumentInfo>(`${pathOfCollection(collection)}/documents/text`, { method: "POST", body });
export const deleteDocument = (id: string) => call<void>(pathOf(id), { method: "DELETE" });
