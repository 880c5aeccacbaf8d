import type { FastifyRequest } from "fastify";
import { ReprocessDocument } from "#events/document.ts";
import { streamOf } from "#events/ids.ts";
import type { DocumentRow } from "#projections/documents/query.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { nextId, type Named } from "../upload/keep.ts";
import type { Shown } from "./documentShape.ts";
import { findDocument } from "./find.ts";

/** What every command to a document's stream says; its caller reads the documents next. */
export const envelope = ({ caller, id }: FastifyRequest, document_id: string) => ({
  stream: streamOf("document", document_id),
  organization_id: caller.organization_id,
  principal: caller.principal,
  request_id: id,
  waitFor: ["documents"],
});

/** What an upload is answered with: 202 where something is done about it, 200 where it is there already. */
export interface Answered {
  status: 200 | 202;
  document: Shown;
}

/** A document that is processed anew, as it is from then on. */
export const underWay = (row: DocumentRow): DocumentRow => ({ ...row, status: "processing", error: null });

/** A document that is there: identical bytes change nothing, unless it failed; then it is tried again. */
export async function there(
  http: Http,
  request: FastifyRequest,
  row: DocumentRow,
  { id, fingerprint }: Named,
): Promise<Answered> {
  if (row.status !== "failed") return { status: 200, document: row };
  try {
    await http.send(ReprocessDocument, {
      ...envelope(request, row.id),
      id: nextId(id, "again"),
      fingerprint,
      data: { document_id: row.id, reextract: false },
    });
  } catch (error) {
    // another request was quicker
    if (error instanceof ApiError && error.errorCode === "already_processing")
      return { status: 200, document: await findDocument(http, request.caller, row.id) };
    throw error;
  }
  return { status: 202, document: underWay(await findDocument(http, request.caller, row.id)) };
}
