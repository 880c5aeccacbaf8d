import type { FastifyRequest } from "fastify";
import type { z } from "zod";
import { contentClaim, externalClaim } from "#events/documentClaims.ts";
import { MEDIA_TYPES } from "#events/mediaTypes.ts";
import type { Http } from "../base/deps.ts";
import { hashInSteps } from "../base/hashInSteps.ts";
import { defaultFilename } from "../base/mediaType.ts";
import { findHolder } from "../upload/storeOnce.ts";
import { canSee, checkReaders, hiddenDocument } from "./documentAccess.ts";
import type { PushTextBody } from "./documentShape.ts";
import { replaceDocument, type DocumentUpload, type UploadAnswer } from "./existingDocument.ts";
import { findAnyDocument } from "./lookups.ts";
import { answerRepeated, answerUpload, storeDocument } from "./uploadDocument.ts";

async function readPush(
  http: Http,
  { collection_id, identity }: Pick<DocumentUpload, "collection_id" | "identity">,
  body: z.infer<typeof PushTextBody>,
): Promise<DocumentUpload> {
  const bytes = Buffer.from(body.text);
  const sha256 = await hashInSteps(bytes);
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

/** Stores pushed text. Texts with the same external_id are versions of one document. Throws a 400 for unknown readers. */
export async function pushText(
  http: Http,
  request: FastifyRequest,
  place: Pick<DocumentUpload, "collection_id" | "identity">,
  body: z.infer<typeof PushTextBody>,
): Promise<UploadAnswer> {
  const repeated = await answerRepeated(http, request, place.identity);
  if (repeated) return repeated;
  await checkReaders(http, request.caller.organization_id, body.readers);
  const upload = await readPush(http, place, body);
  const { external_claim } = upload;
  const holder = external_claim === null ? undefined : await findHolder(http, `external:${external_claim}`);
  const row = holder && (await findAnyDocument(http, request.caller, holder));
  if (row && !(await canSee(http, request.caller, row))) throw hiddenDocument();
  if (row) return replaceDocument(http, request, row, upload);
  return answerUpload(http, request, upload, await storeDocument(http, request, upload));
}
