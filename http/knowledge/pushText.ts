import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { z } from "zod";
import { types } from "#events/mediaTypes.ts";
import { ReplaceDocument } from "#events/document.ts";
import { partsOf, streamOf } from "#events/ids.ts";
import type { DocumentRow } from "#projections/documents/query.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { outcomeBefore } from "../idempotency.ts";
import { nameOfType } from "../mediaType.ts";
import { holderOf, nameRequest, nextId, type Named } from "../upload/keep.ts";
import type { Push } from "./documentShape.ts";
import { envelope, there, type Answered } from "./documentStore.ts";
import { findDocument, lookUpDocument } from "./find.ts";
import { answered, contentClaim, externalClaim, keepDocument, type Arriving } from "./uploadDocument.ts";

function arrivingOf(http: Http, request: FastifyRequest, collection_id: string, body: z.infer<typeof Push>): Arriving {
  const bytes = Buffer.from(body.text);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const mime_type = body.format === "text" ? types.txt : types.md;
  const external_id = body.external_id ?? null;
  return {
    bytes,
    sha256,
    mime_type,
    name: body.name ?? nameOfType(mime_type),
    tags: body.tags ?? [],
    collection_id,
    original: "text",
    external_id,
    external_claim: external_id === null ? null : externalClaim(http, collection_id, external_id),
    content_claim: contentClaim(http, collection_id, sha256, external_id),
    named: nameRequest(request, `/api/v1/knowledge/collections/${collection_id}/documents/text`, request.bodyHash),
  };
}

/** Whether the same request, under its key, has made or replaced the document before. */
async function wasDone(http: Http, request: FastifyRequest, { id, fingerprint, keyed }: Named): Promise<boolean> {
  if (!keyed) return false;
  for (const one of [id, replacing(id)]) {
    const before = await outcomeBefore(http.db, request.caller.organization_id, one, fingerprint);
    if (before && !before.rejection) return true;
  }
  return false;
}

const replacing = (id: string) => nextId(id, "replace");

/** New text for the document that has this external_id; the same text changes nothing. */
async function replace(http: Http, request: FastifyRequest, row: DocumentRow, arriving: Arriving): Promise<Answered> {
  const { named, bytes, name, tags, sha256, mime_type, original, content_claim } = arriving;
  if (await wasDone(http, request, named)) return { status: 202, document: row };
  const thing = streamOf("document", row.id);
  if ((await holderOf(http.db, `content:${content_claim}`)) === thing) return there(http, request, row, named);
  const sealed = await http.keyring.sealLarge(thing, row.wrapped_key, bytes);
  const blob = await http.blobs.put(`${request.caller.organization_id}/${thing}`, sealed);
  const sent = { mime_type, size_bytes: bytes.length, original, blob, content_claim, name, tags, sha256 };
  try {
    const { position } = await http.send(ReplaceDocument, {
      ...envelope(request, row.id),
      id: replacing(named.id),
      fingerprint: named.fingerprint,
      data: { document_id: row.id, ...sent },
    });
    if (position === 0) {
      // another request with the same text was quicker
      await http.blobs.remove(blob);
      await http.freshRead(["documents"], thing);
      return { status: 200, document: await findDocument(http, request.caller, row.id) };
    }
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) await http.blobs.remove(blob);
    throw error;
  }
  const replaced = await findDocument(http, request.caller, row.id);
  return { status: 202, document: { ...replaced, status: "pending", error: null } };
}

/** Keeps text that is pushed. The same external_id is the same document. */
export async function pushText(
  http: Http,
  request: FastifyRequest,
  collection_id: string,
  body: z.infer<typeof Push>,
): Promise<Answered> {
  const arriving = arrivingOf(http, request, collection_id, body);
  const { external_claim } = arriving;
  const holder = external_claim === null ? undefined : await holderOf(http.db, `external:${external_claim}`);
  const row = holder && (await lookUpDocument(http, request.caller, partsOf(holder).id));
  if (row) return replace(http, request, row, arriving);
  const kept = await keepDocument(http, request, arriving);
  if (kept.kind === "there" && external_claim !== null) return replace(http, request, kept.row, arriving);
  return answered(http, request, arriving, kept);
}
