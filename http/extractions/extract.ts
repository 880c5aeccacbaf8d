import type { FastifyRequest } from "fastify";
import { ExpireExtraction, RequestExtraction } from "#events/extraction.ts";
import { isUuid, streamOf } from "#events/ids.ts";
import { getExtraction, type ExtractionRow } from "#projections/extractions/query.ts";
import type { Caller } from "../auth/caller.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { keepOnce, nameRequest } from "../upload/keep.ts";
import { readUpload } from "../upload/upload.ts";
import type { Shown } from "./shape.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** What every command to an extraction's stream says; its caller reads the extractions next. */
export const envelope = ({ caller, id }: FastifyRequest, extraction_id: string) => ({
  stream: streamOf("extraction", extraction_id),
  organization_id: caller.organization_id,
  principal: caller.principal,
  request_id: id,
  waitFor: ["extractions"],
});

/** An extraction of the organization while it lives. One that is not found may have been asked for a moment ago. */
export async function lookUp(
  { db, freshRead }: Http,
  { organization_id }: Caller,
  id: string,
): Promise<ExtractionRow | undefined> {
  if (!isUuid(id)) return undefined;
  const find = () => getExtraction(db, organization_id, id, new Date());
  const found = await find();
  if (found) return found;
  await freshRead(["extractions"], streamOf("extraction", id.toLowerCase()));
  return find();
}

/** The same for what is unknown, expired, deleted, or another organization's. */
export const extractionNotFound = () => new ApiError("extraction_not_found", "There is no such extraction.");

/** The record with its text, where that is ready. Throws 404 where it went meanwhile. */
export async function withMarkdown({ blobs, keyring }: Http, row: ExtractionRow): Promise<Shown> {
  if (row.status !== "ready" || row.text_blob === null) return row;
  const sealed = await blobs.get(row.text_blob);
  if (!sealed) throw extractionNotFound();
  const text = await keyring.openLarge(streamOf("extraction", row.id), row.wrapped_key, sealed);
  return { ...row, markdown: text.toString() };
}

/** Asks for a file's text: 202 and a pending record, or 200 and the earlier one for identical bytes of the same type. */
export async function extract(http: Http, request: FastifyRequest): Promise<{ status: 200 | 202; extraction: Shown }> {
  const { caller } = request;
  const { bytes, name, mime_type, sha256 } = await readUpload(request);
  const content_claim = http.keyring.mark("extraction", [caller.organization_id, sha256, mime_type].join("\n"));
  const named = nameRequest(request, "/api/v1/extractions", sha256, [name, mime_type]);
  const created_at = new Date();
  const expires_at = new Date(created_at.getTime() + DAY_MS);
  const size_bytes = bytes.length;
  const kept = await keepOnce<ExtractionRow>(http, {
    kind: "extraction",
    request,
    named,
    bytes,
    claim: `extraction:${content_claim}`,
    send: ({ id: extraction_id, blob, keys, command_id: id }) => {
      const asked = { extraction_id, mime_type, size_bytes, blob, content_claim, expires_at: expires_at.toISOString() };
      const data = { ...asked, name, sha256 };
      const sending = { ...envelope(request, extraction_id), id, fingerprint: named.fingerprint, fresh: true };
      return http.send(RequestExtraction, { ...sending, keys, data });
    },
    find: (id) => lookUp(http, caller, id),
    lost: extractionNotFound,
    // one that has expired holds its bytes until it is swept up
    gone: async (id) =>
      void (await http.send(ExpireExtraction, { ...envelope(request, id), data: { extraction_id: id } })),
  });
  if (kept.kind === "there") return { status: 200, extraction: await withMarkdown(http, kept.row) };
  if (kept.kind === "repeated") return { status: 202, extraction: await withMarkdown(http, kept.row) };
  const unread = { status: "pending" as const, page_count: null, chunk_count: null, error: null };
  return { status: 202, extraction: { id: kept.id, name, mime_type, size_bytes, ...unread, created_at, expires_at } };
}
