import type { FastifyRequest } from "fastify";
import { ChangeDocument, ReprocessDocument } from "#events/document.ts";
import { changedDescription } from "#events/documentDetails.ts";
import { streamName } from "#events/ids.ts";
import type { DocumentRow } from "#projections/documents/query.ts";
import { commandFields } from "../base/commandFields.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { nextCommand, type IdempotentRequest } from "../base/idempotency.ts";
import type { PublicDocument } from "./documentShape.ts";
import { requireDocument } from "./lookups.ts";

export const commandFor = (request: FastifyRequest, document_id: string) =>
  commandFields(request, streamName("document", document_id), ["documents"]);

/** The answer to an upload: 202 if the document will be processed, 200 if nothing needs to be done. */
export interface UploadAnswer {
  status: 200 | 202;
  document: PublicDocument;
}

/** The document as it will be once reprocessing has started. */
export const asProcessing = (row: DocumentRow): DocumentRow => ({ ...row, status: "processing", error: null });

/** Changes the tags, metadata and readers of a document whose text was sent again unchanged. */
export async function applyDetails(
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
  return requireDocument(http, request.caller, row.id);
}

/** Answers an upload of bytes that the collection has already. Does nothing, except that a failed document is processed again. */
export async function answerExisting(
  http: Http,
  request: FastifyRequest,
  row: DocumentRow,
  identity: IdempotentRequest,
): Promise<UploadAnswer> {
  if (row.status !== "failed") return { status: 200, document: row };
  try {
    const data = { document_id: row.id, reextract: false };
    await http.send(ReprocessDocument, { ...commandFor(request, row.id), ...nextCommand(identity, "again"), data });
  } catch (error) {
    // a concurrent request has started it
    if (error instanceof ApiError && error.errorCode === "already_processing")
      return { status: 200, document: await requireDocument(http, request.caller, row.id) };
    throw error;
  }
  return { status: 202, document: asProcessing(await requireDocument(http, request.caller, row.id)) };
}
