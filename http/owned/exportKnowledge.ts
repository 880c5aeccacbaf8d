import { currentTime } from "#events/clock.ts";
import { decodeUtf8 } from "#events/decodeUtf8.ts";
import { streamName } from "#events/ids.ts";
import { listOwnedDocuments } from "#projections/documents/owned.ts";
import type { DocumentRow } from "#projections/documents/query.ts";
import { listOwnedExtractions } from "#projections/extractions/query.ts";
import type { OwnedPage } from "#projections/owner.ts";
import { hashInSteps } from "../base/hashInSteps.ts";
import { presentExtraction } from "../extractions/extractionShape.ts";
import { presentDocument } from "../knowledge/documentShape.ts";
import { contentLines, readRows, type ExportScope, type ExportLines } from "./exportLines.ts";

/** Yields the uploaded bytes, unless they were sent before or are no longer stored. */
async function* originalLines({ http, sent }: ExportScope, { id, wrapped_key, blob }: DocumentRow): ExportLines {
  const bytes = await http.vault.get({ thing: streamName("document", id), wrapped_key }, blob);
  if (!bytes) return;
  const sha256 = await hashInSteps(bytes);
  if (sent.has(sha256)) return;
  sent.add(sha256);
  yield* contentLines({ document_id: id, sha256 }, bytes);
}

/** Yields documents that the subject uploaded, or that only this external user may read, with the uploaded bytes. */
export async function* documentLines(scope: ExportScope): ExportLines {
  const { http, organization_id, subject } = scope;
  const whose = subject.kind === "user" ? { ids: subject.document_ids } : { principal: subject.principal };
  const documents = (page: OwnedPage) => listOwnedDocuments(http.db, organization_id, whose, page);
  for await (const document of readRows(scope, documents)) {
    yield { ...presentDocument(document), type: "document" };
    yield* originalLines(scope, document);
  }
}

/** Yields extractions that the subject requested in the last day, with their Markdown. */
export async function* extractionLines(scope: ExportScope): ExportLines {
  const { http, organization_id, subject } = scope;
  if (subject.kind === "user") return;
  const read = (page: OwnedPage) =>
    listOwnedExtractions(http.db, organization_id, subject.principal, { now: new Date(currentTime()), ...page });
  for await (const row of readRows(scope, read)) {
    const key = { thing: streamName("extraction", row.id), wrapped_key: row.wrapped_key };
    const text = row.text_blob === null ? undefined : await http.vault.get(key, row.text_blob);
    const markdown = text && (await decodeUtf8(text));
    yield { ...presentExtraction({ ...row, ...(markdown !== undefined && { markdown }) }), type: "extraction" };
  }
}
