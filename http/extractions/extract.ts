import type { FastifyRequest } from "fastify";
import { currentTime } from "#events/clock.ts";
import { decodeUtf8 } from "#events/decodeUtf8.ts";
import { ExpireExtraction, RequestExtraction } from "#events/extraction.ts";
import { isUuid, streamName } from "#events/ids.ts";
import { estimateTextBytes } from "#events/textSize.ts";
import { DAY_MS } from "#events/units.ts";
import { getExtraction, type ExtractionRow } from "#projections/extractions/query.ts";
import type { Caller } from "../base/caller.ts";
import { commandFields } from "../base/commandFields.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { findOrWait } from "../base/findById.ts";
import { createOnce, identifyPost } from "../base/idempotency.ts";
import { uploadSpender } from "../base/limits.ts";
import { waitToRead } from "../base/sendFile.ts";
import { readUpload } from "../upload/readUpload.ts";
import { storeOnce } from "../upload/storeOnce.ts";
import type { PublicExtraction } from "./extractionShape.ts";

/** An extraction is deleted 24 hours after the request (spec: Extraction API). */
const LIFETIME_MS = DAY_MS;

export const commandFor = (request: FastifyRequest, extraction_id: string) =>
  commandFields(request, streamName("extraction", extraction_id), ["extractions"]);

/** Finds an extraction that has not expired. A missing one may have been requested a moment ago, so this waits for the read model once. */
async function findExtraction({ db, waitUntilCurrent }: Http, { organization_id }: Caller, id: string) {
  if (!isUuid(id)) return undefined;
  return findOrWait(
    () => getExtraction(db, organization_id, id, new Date(currentTime())),
    () => waitUntilCurrent(["extractions"], streamName("extraction", id.toLowerCase())),
  );
}

/** Unknown, expired, deleted and foreign extractions all get this answer. */
export const extractionNotFound = () => new ApiError("extraction_not_found", "There is no such extraction.");

export async function requireExtraction(http: Http, caller: Caller, id: string): Promise<ExtractionRow> {
  const row = await findExtraction(http, caller, id);
  if (!row) throw extractionNotFound();
  return row;
}

/** Adds the Markdown of a ready extraction. Throws 404 if it was deleted meanwhile. */
export async function withMarkdown(
  { vault }: Http,
  request: FastifyRequest,
  row: ExtractionRow,
): Promise<PublicExtraction> {
  if (row.status !== "ready" || row.text_blob === null) return row;
  await waitToRead(request, estimateTextBytes(row));
  const { id, wrapped_key } = row;
  const text = await vault.get({ thing: streamName("extraction", id), wrapped_key }, row.text_blob);
  if (!text) throw extractionNotFound();
  return { ...row, markdown: await decodeUtf8(text) };
}

/**
 * Requests the text of a file. Returns 202 with a pending record, or 200 with the existing one for identical bytes, whatever
 * their name and type.
 */
export async function extract(
  http: Http,
  request: FastifyRequest,
): Promise<{ status: 200 | 202; extraction: PublicExtraction }> {
  const { caller } = request;
  const { bytes, name, mime_type, sha256 } = await readUpload(request, {
    pictures: http.settings.OCR,
    fields: new Set(),
  });
  const content_claim = http.keyring.keyedHash("extraction", [caller.organization_id, sha256].join("\n"));
  const created_at = new Date(currentTime());
  const expires_at = new Date(created_at.getTime() + LIFETIME_MS);
  const file = { name, mime_type, size_bytes: bytes.length };
  const result = await storeOnce<ExtractionRow>(http, {
    kind: "extraction",
    identity: identifyPost(request, "/api/v1/extractions", { body: sha256, more: [name, mime_type] }),
    admission: { request, spender: uploadSpender(caller), wanted: { bytes: bytes.length, pages: 0 } },
    bytes,
    param: "file",
    claim: `extraction:${content_claim}`,
    create: ({ id: extraction_id, blob, keys, identity }) => {
      const data = { extraction_id, ...file, sha256, blob, content_claim, expires_at: expires_at.toISOString() };
      return createOnce(http, RequestExtraction, { ...commandFor(request, extraction_id), ...identity, keys, data });
    },
    find: (id) => findExtraction(http, caller, id),
    notFound: extractionNotFound,
    // an expired extraction holds the claim on its bytes until the sweep deletes it
    onHolderGone: async (id) =>
      void (await http.send(ExpireExtraction, { ...commandFor(request, id), data: { extraction_id: id } })),
  });
  if (result.kind !== "created")
    return {
      status: result.kind === "existing" ? 200 : 202,
      extraction: await withMarkdown(http, request, result.row),
    };
  const pending = { status: "pending" as const, page_count: null, chunk_count: null, warnings: [], error: null };
  return { status: 202, extraction: { id: result.id, ...file, ...pending, created_at, expires_at } };
}
