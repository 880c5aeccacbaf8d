import type { FastifyRequest } from "fastify";
import { UploadDocument } from "#events/document.ts";
import { contentClaim } from "#events/documentClaims.ts";
import type { DocumentRow } from "#projections/documents/query.ts";
import type { Http } from "../base/deps.ts";
import { createOnce, findCreated, type IdempotentRequest } from "../base/idempotency.ts";
import { uploadSpender } from "../base/limits.ts";
import { readRecordedAt } from "../base/send.ts";
import type { Upload } from "../upload/readUpload.ts";
import { storeOnce, type StoreResult } from "../upload/storeOnce.ts";
import { canSee, checkReaders, hiddenDocument } from "./documentAccess.ts";
import {
  commandFor,
  identifyReplacement,
  replaceDocument,
  type DocumentUpload,
  type UploadAnswer,
} from "./existingDocument.ts";
import { collectionNotFound, documentNotFound, findAnyDocument } from "./lookups.ts";

const readSource = ({ caller }: FastifyRequest) => (caller.session ? ("upload" as const) : ("api" as const));

/** Stores an upload as a document, unless the collection has it already. */
export function storeDocument(
  http: Http,
  request: FastifyRequest,
  upload: DocumentUpload,
): Promise<StoreResult<DocumentRow>> {
  const { bytes, identity, name, mime_type, tags, metadata, readers, sha256, collection_id, original, ...claims } =
    upload;
  const { external_id, external_claim, content_claim } = claims;
  const content = { name, tags, metadata, readers, sha256, external_id, external_claim, content_claim };
  return storeOnce(http, {
    kind: "document",
    identity,
    admission: {
      request,
      spender: uploadSpender(request.caller),
      wanted: { bytes: bytes.length, documents: 1, pages: 0 },
    },
    bytes,
    param: original === "text" ? "text" : "file",
    claim: `content:${content_claim}`,
    create: ({ id: document_id, blob, keys, identity }) => {
      const placed = { document_id, collection_id, source: readSource(request), blob, original };
      const data = { ...placed, mime_type, size_bytes: bytes.length, ...content };
      return createOnce(http, UploadDocument, { ...commandFor(request, document_id), ...identity, keys, data });
    },
    find: (id) => findAnyDocument(http, request.caller, id),
    notFound: documentNotFound,
    onHolderGone: () => http.waitUntilCurrent(["documents"]),
  });
}

/** Everything besides the bytes that must be equal in a repeated upload. */
export const describeUpload = ({ name, mime_type, tags, metadata, readers }: Upload): string[] => [
  name,
  mime_type,
  ...tags,
  ...[metadata, readers].filter((sent) => sent !== undefined).map((sent) => JSON.stringify(sent)),
];

/** The answer to a repeated request: the document as it is now. Call it before checking readers, who may have left since. */
export async function answerRepeated(
  http: Http,
  { caller }: FastifyRequest,
  identity: IdempotentRequest,
): Promise<UploadAnswer | undefined> {
  const id = (await findCreated(http, identity)) ?? (await findCreated(http, identifyReplacement(identity)));
  if (id === undefined) return undefined;
  const document = await findAnyDocument(http, caller, id);
  if (!document) throw documentNotFound();
  if (!(await canSee(http, caller, document))) throw hiddenDocument();
  return { status: 202, document };
}

/** Stores a file as a document, unless the collection has the same bytes. Throws a 400 for unknown readers. */
export async function storeFile(
  http: Http,
  request: FastifyRequest,
  file: Upload & Pick<DocumentUpload, "collection_id" | "identity">,
): Promise<UploadAnswer> {
  const repeated = await answerRepeated(http, request, file.identity);
  if (repeated) return repeated;
  await checkReaders(http, request.caller.organization_id, file.readers);
  const content_claim = contentClaim(http.keyring, file.collection_id, file.sha256, null);
  const upload: DocumentUpload = {
    ...file,
    original: "file",
    external_id: null,
    external_claim: null,
    content_claim,
  };
  return answerUpload(http, request, upload, await storeDocument(http, request, upload));
}

/** Throws 404 `collection_not_found` if the collection was deleted meanwhile. */
export async function answerUpload(
  http: Http,
  request: FastifyRequest,
  upload: DocumentUpload,
  result: StoreResult<DocumentRow>,
): Promise<UploadAnswer> {
  if (result.kind !== "created" && !(await canSee(http, request.caller, result.row))) throw hiddenDocument();
  if (result.kind === "existing") {
    const tags = upload.original === "file" && upload.tags.length === 0 ? result.row.tags : upload.tags;
    return replaceDocument(http, request, result.row, { ...upload, tags });
  }
  if (result.kind === "repeated") return { status: 202, document: result.row };
  const [isListed, at] = await Promise.all([
    !result.projected || http.isDocumentListed(result.id),
    readRecordedAt(http, result.position),
  ]);
  if (!isListed) throw collectionNotFound();
  const { collection_id, name, mime_type, tags, metadata = {}, readers = null, external_id } = upload;
  const document = {
    id: result.id,
    collection_id,
    name,
    mime_type,
    size_bytes: upload.bytes.length,
    status: "pending" as const,
    error: null,
    page_count: null,
    chunk_count: 0,
    warnings: [],
    tags,
    metadata,
    readers,
    source: readSource(request),
    external_id,
    created_at: at,
    updated_at: at,
    indexed_at: null,
  };
  return { status: 202, document };
}
