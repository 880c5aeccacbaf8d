import type { FastifyRequest } from "fastify";
import { UploadDocument } from "#events/document.ts";
import type { DocumentRow } from "#projections/documents/query.ts";
import type { Http } from "../deps.ts";
import { writtenAt } from "../send.ts";
import { keepOnce, type Kept, type Named } from "../upload/keep.ts";
import type { Upload } from "../upload/upload.ts";
import { envelope, there, type Answered } from "./documentStore.ts";
import { collectionNotFound, documentNotFound, lookUpDocument } from "./find.ts";

export interface Arriving extends Upload {
  collection_id: string;
  original: "file" | "text";
  external_id: string | null;
  external_claim: string | null;
  content_claim: string;
  named: Named;
}

/** The mark of the same bytes in a collection; of pushed text, under the same id of the caller's. */
export const contentClaim = ({ keyring }: Http, collection_id: string, sha256: string, external_id: string | null) =>
  keyring.mark("content", [collection_id, sha256, ...(external_id === null ? [] : [external_id])].join("\n"));

export const externalClaim = ({ keyring }: Http, collection_id: string, external_id: string) =>
  keyring.mark("external", `${collection_id}\n${external_id}`);

const sourceOf = ({ caller }: FastifyRequest) => (caller.session ? ("upload" as const) : ("api" as const));

/** Keeps what was sent as a document, unless the collection has it. */
export function keepDocument(http: Http, request: FastifyRequest, arriving: Arriving): Promise<Kept<DocumentRow>> {
  const { bytes, named, name, mime_type, tags, sha256, collection_id, original, ...claims } = arriving;
  const { external_id, external_claim, content_claim } = claims;
  const described = { name, tags, sha256, external_id, external_claim, content_claim };
  return keepOnce(http, {
    kind: "document",
    request,
    named,
    bytes,
    claim: `content:${content_claim}`,
    send: ({ id: document_id, blob, keys, command_id: id }) => {
      const placed = { document_id, collection_id, source: sourceOf(request), blob, original };
      const data = { ...placed, mime_type, size_bytes: bytes.length, ...described };
      const sending = {
        ...envelope(request, document_id),
        id,
        fingerprint: named.fingerprint,
        fresh: true,
        keys,
        data,
      };
      return http.send(UploadDocument, sending);
    },
    find: (id) => lookUpDocument(http, request.caller, id),
    lost: documentNotFound,
    gone: () => http.freshRead(["documents"]),
  });
}

/** The answer to an upload that was kept. Throws 404 `collection_not_found` where the collection was deleted meanwhile. */
export async function answered(
  http: Http,
  request: FastifyRequest,
  arriving: Arriving,
  kept: Kept<DocumentRow>,
): Promise<Answered> {
  if (kept.kind === "there") return there(http, request, kept.row, arriving.named);
  if (kept.kind === "repeated") return { status: 202, document: kept.row };
  if (kept.followed && !(await lookUpDocument(http, request.caller, kept.id))) throw collectionNotFound();
  const at = await writtenAt(http, kept.position);
  const { collection_id, name, mime_type, tags, external_id } = arriving;
  const document = {
    id: kept.id,
    collection_id,
    name,
    mime_type,
    size_bytes: arriving.bytes.length,
    status: "pending" as const,
    error: null,
    page_count: null,
    chunk_count: 0,
    tags,
    source: sourceOf(request),
    external_id,
    created_at: at,
    updated_at: at,
    indexed_at: null,
  };
  return { status: 202, document };
}
