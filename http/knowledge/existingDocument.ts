import type { FastifyRequest } from "fastify";
import { ChangeDocument, ReplaceDocument, ReprocessDocument, RereadDocument } from "#events/document.ts";
import { changedDescription } from "#events/documentDetails.ts";
import { blobFolder, streamName } from "#events/ids.ts";
import type { DocumentRow } from "#projections/documents/query.ts";
import { commandFields } from "../base/commandFields.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { findPreviousOutcome, nextCommand, type IdempotentRequest } from "../base/idempotency.ts";
import { uploadSpender, runWithinLimits } from "../base/limits.ts";
import { requireReadingRoom, requireStorage } from "../base/storageLimits.ts";
import type { Upload } from "../upload/readUpload.ts";
import { findHolder } from "../upload/storeOnce.ts";
import type { PublicDocument } from "./documentShape.ts";
import { readChangedDocument } from "./lookups.ts";

export const commandFor = (request: FastifyRequest, document_id: string) =>
  commandFields(request, streamName("document", document_id), ["documents"]);

export interface DocumentUpload extends Upload {
  /** Name and tags for an existing document; undefined keeps its own. */
  newName?: string | undefined;
  newTags?: string[] | undefined;
  collection_id: string;
  original: "file" | "text";
  external_id: string | null;
  external_claim: string | null;
  content_claim: string;
  identity: IdempotentRequest;
}

/** The changes to an existing document. Its stored file is kept. */
const newDetails = ({ newName, newTags, metadata, readers, original, identity }: DocumentUpload) => ({
  name: newName,
  tags: newTags,
  metadata: original === "text" ? metadata : undefined,
  readers: original === "text" ? readers : undefined,
  identity,
});

/** The answer to an upload: 202 if the document will be processed, 200 if nothing needs to be done. */
export interface UploadAnswer {
  status: 200 | 202;
  document: PublicDocument;
}

/** The document as it will be once reprocessing has started. */
export const markProcessing = (row: DocumentRow): DocumentRow => ({ ...row, status: "processing", error: null });

/** Changes the tags, metadata and readers of a document whose text was sent again unchanged. */
async function applyDetails(
  http: Http,
  request: FastifyRequest,
  row: DocumentRow,
  { identity, ...sent }: Parameters<typeof changedDescription>[0] & { identity: IdempotentRequest },
): Promise<DocumentRow> {
  const changed = changedDescription(sent, row);
  if (!changed) return row;
  const data = { document_id: row.id, ...changed };
  const command = { ...commandFor(request, row.id), ...nextCommand(identity, "tags"), data };
  await http.send(ChangeDocument, { ...command, requireProjected: true });
  return readChangedDocument(http, request.caller, row.id);
}

interface Reprocessing {
  /** Whether the original file is read again. */
  reextract: boolean;
  /** With `reextract`: the languages to recognize. Default: as before. */
  ocr_languages?: string[] | undefined;
}

/**
 * Starts to process a document again. If its file is read, which is charged, that needs what is left of pages. Throws 402
 * `budget_exceeded` and 429 `too_many_unread_files`.
 */
export async function reprocessDocument(
  http: Http,
  request: FastifyRequest,
  { id: document_id, status }: Pick<DocumentRow, "id" | "status">,
  { reextract, ocr_languages, ...identity }: IdempotentRequest & Reprocessing,
): Promise<void> {
  const fields = { ...commandFor(request, document_id), ...identity };
  const send = () =>
    ocr_languages
      ? http.send(RereadDocument, { ...fields, data: { document_id, ocr_languages } })
      : http.send(ReprocessDocument, { ...fields, data: { document_id, reextract } });
  // a repetition gets its first answer
  const isRepeated = (await findPreviousOutcome(http, identity)) !== undefined;
  if (!isRepeated) await requireReadingRoom(http, request.caller.organization_id);
  // a document that failed has not been charged
  const isCharged = (reextract || status === "failed") && !isRepeated;
  const admission = { request, spender: uploadSpender(request.caller), wanted: { pages: 0 } };
  await (isCharged ? runWithinLimits(http, admission, send) : send());
}

/** Answers an upload of bytes that the collection has already. Does nothing, except that a failed document is processed again. */
async function answerExisting(
  http: Http,
  request: FastifyRequest,
  row: DocumentRow,
  identity: IdempotentRequest,
): Promise<UploadAnswer> {
  if (row.status !== "failed") return { status: 200, document: row };
  try {
    await reprocessDocument(http, request, row, { ...nextCommand(identity, "again"), reextract: false });
  } catch (error) {
    // a concurrent request has started it
    if (error instanceof ApiError && error.errorCode === "already_processing")
      return { status: 200, document: await readChangedDocument(http, request.caller, row.id) };
    throw error;
  }
  return { status: 202, document: markProcessing(await readChangedDocument(http, request.caller, row.id)) };
}

/** The same request with the id of its command that replaces a document. */
export const identifyReplacement = (identity: IdempotentRequest) => nextCommand(identity, "replace");

/**
 * Whether a document has this content. The same text in another format counts as other content, because it is parsed differently,
 * and so does a file with the bytes of a pushed text, because its original is to be kept.
 */
const hasContent = async (http: Http, row: DocumentRow, { content_claim, mime_type, original }: DocumentUpload) =>
  (row.original === "file" || (original === "text" && row.mime_type === mime_type)) &&
  (await findHolder(http, `content:${content_claim}`)) === row.id;

/** Replaces the content of a document. If it is unchanged, only what describes the document changes. */
export async function replaceDocument(
  http: Http,
  request: FastifyRequest,
  row: DocumentRow,
  upload: DocumentUpload,
): Promise<UploadAnswer> {
  const { identity, bytes, name, tags, metadata, readers, sha256, mime_type, original, content_claim } = upload;
  const thing = streamName("document", row.id);
  if (await hasContent(http, row, upload)) {
    const tagged = await applyDetails(http, request, row, newDetails(upload));
    return answerExisting(http, request, tagged, identity);
  }
  await requireStorage(http, request.caller.organization_id, { bytes: bytes.length, param: original, isRead: true });
  const folder = blobFolder(request.caller.organization_id, thing);
  const admission = { request, spender: uploadSpender(request.caller), wanted: { bytes: bytes.length, pages: 0 } };
  const blob = await http.vault.put({ thing, wrapped_key: row.wrapped_key, folder }, bytes);
  const content = {
    mime_type,
    size_bytes: bytes.length,
    original,
    blob,
    content_claim,
    name,
    tags,
    metadata,
    readers,
    sha256,
  };
  try {
    const { position } = await runWithinLimits(http, admission, () =>
      http.send(ReplaceDocument, {
        ...commandFor(request, row.id),
        ...identifyReplacement(identity),
        data: { document_id: row.id, ...content },
      }),
    );
    if (position === 0) {
      // a concurrent request has stored the same content
      await http.blobs.remove(blob);
      await http.waitUntilCurrent(["documents"], thing);
      return { status: 200, document: await readChangedDocument(http, request.caller, row.id) };
    }
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) await http.blobs.remove(blob);
    throw error;
  }
  const replaced = await readChangedDocument(http, request.caller, row.id);
  return { status: 202, document: { ...replaced, status: "pending", error: null } };
}
