import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { z } from "zod";
import { MEDIA_TYPES } from "#events/mediaTypes.ts";
import { ReplaceDocument } from "#events/document.ts";
import { contentClaim, externalClaim } from "#events/documentClaims.ts";
import { blobFolder, streamName } from "#events/ids.ts";
import type { DocumentRow } from "#projections/documents/query.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { nextCommand, type IdempotentRequest } from "../base/idempotency.ts";
import { defaultFilename } from "../base/mediaType.ts";
import { uploaderOf, withinLimits } from "../base/limits.ts";
import { requireStorage } from "../base/storageLimits.ts";
import { findHolder } from "../upload/storeOnce.ts";
import { canSee, checkReaders, hiddenDocument } from "./documentAccess.ts";
import type { Push } from "./documentShape.ts";
import { answerExisting, applyDetails, commandFor, type UploadAnswer } from "./existingDocument.ts";
import { findAnyDocument, requireDocument } from "./lookups.ts";
import { answerRepeated, answerUpload, newDetails, storeDocument, type DocumentUpload } from "./uploadDocument.ts";

function readPush(
  http: Http,
  { collection_id, identity }: Pick<DocumentUpload, "collection_id" | "identity">,
  body: z.infer<typeof Push>,
): DocumentUpload {
  const bytes = Buffer.from(body.text);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const mime_type = body.format === "text" ? MEDIA_TYPES.txt : MEDIA_TYPES.md;
  const external_id = body.external_id ?? null;
  return {
    bytes,
    sha256,
    mime_type,
    name: body.name ?? defaultFilename(mime_type),
    newName: body.name ?? undefined,
    tags: body.tags ?? [],
    newTags: body.tags ?? undefined,
    metadata: body.metadata ?? undefined,
    readers: body.readers,
    collection_id,
    original: "text",
    external_id,
    external_claim: external_id === null ? null : externalClaim(http.keyring, collection_id, external_id),
    content_claim: contentClaim(http.keyring, collection_id, sha256, external_id),
    identity,
  };
}

const replacement = (identity: IdempotentRequest) => nextCommand(identity, "replace");

/** Whether a document has this content. The same text in another format counts as other content, because it is parsed differently. */
const hasContent = async (http: Http, row: DocumentRow, { content_claim, mime_type }: DocumentUpload) =>
  (row.original !== "text" || row.mime_type === mime_type) &&
  (await findHolder(http, `content:${content_claim}`)) === row.id;

/** Replaces the text of a document. If text and format are unchanged, only tags, metadata and readers change. */
async function replace(
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
  await requireStorage(http, request.caller.organization_id, bytes.length, "text");
  const folder = blobFolder(request.caller.organization_id, thing);
  const wish = { request, spender: uploaderOf(request.caller), wanted: { bytes: bytes.length, pages: 0 } };
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
    const { position } = await withinLimits(http, wish, () =>
      http.send(ReplaceDocument, {
        ...commandFor(request, row.id),
        ...replacement(identity),
        data: { document_id: row.id, ...content },
      }),
    );
    if (position === 0) {
      // a concurrent request has stored the same text
      await http.blobs.remove(blob);
      await http.freshRead(["documents"], thing);
      return { status: 200, document: await requireDocument(http, request.caller, row.id) };
    }
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) await http.blobs.remove(blob);
    throw error;
  }
  const replaced = await requireDocument(http, request.caller, row.id);
  return { status: 202, document: { ...replaced, status: "pending", error: null } };
}

/** Stores pushed text. Texts with the same external_id are versions of one document. Throws a 400 for unknown readers. */
export async function pushText(
  http: Http,
  request: FastifyRequest,
  place: Pick<DocumentUpload, "collection_id" | "identity">,
  body: z.infer<typeof Push>,
): Promise<UploadAnswer> {
  const { identity } = place;
  for (const command of [identity, replacement(identity)]) {
    const repeated = await answerRepeated(http, request, command);
    if (repeated) return repeated;
  }
  await checkReaders(http, request.caller.organization_id, body.readers);
  const upload = readPush(http, place, body);
  const { external_claim } = upload;
  const holder = external_claim === null ? undefined : await findHolder(http, `external:${external_claim}`);
  const row = holder && (await findAnyDocument(http, request.caller, holder));
  if (row && !(await canSee(http, request.caller, row))) throw hiddenDocument();
  if (row) return replace(http, request, row, upload);
  const result = await storeDocument(http, request, upload);
  if (result.kind !== "created" && !(await canSee(http, request.caller, result.row))) throw hiddenDocument();
  if (result.kind === "existing") return replace(http, request, result.row, upload);
  return answerUpload(http, request, upload, result);
}
