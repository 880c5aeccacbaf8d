import { z } from "zod";
import { streamOf } from "#events/ids.ts";
import type { DocumentRow } from "#projections/documents/query.ts";
import type { App } from "../app.ts";
import type { Caller } from "../auth/caller.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { servedAs } from "../served.ts";
import { findDocument } from "./find.ts";

async function open({ blobs, keyring }: Http, row: DocumentRow, blob: string): Promise<Buffer | undefined> {
  const sealed = await blobs.get(blob);
  return sealed && keyring.openLarge(streamOf("document", row.id), row.wrapped_key, sealed);
}

/**
 * Bytes of a document by what names their blob. A blob may go between the look at the row and at itself, when the next
 * generation is live or the document deleted: then the row says where to look, or that there is none.
 */
async function bytesOf(
  http: Http,
  caller: Caller,
  id: string,
  blobOf: (row: DocumentRow) => string,
): Promise<{ row: DocumentRow; bytes: Buffer | undefined }> {
  const row = await findDocument(http, caller, id);
  const bytes = await open(http, row, blobOf(row));
  if (bytes) return { row, bytes };
  const again = await findDocument(http, caller, id);
  return { row: again, bytes: await open(http, again, blobOf(again)) };
}

const noText = () => new ApiError("no_extracted_text", "The document has no text that was read from it.");
const noFile = () => new ApiError("no_stored_file", "The document has no file that was stored.");

function textBlob({ status, text_blob }: DocumentRow): string {
  if (status === "pending" || status === "processing")
    throw new ApiError("not_ready", "The document is not ready; its text cannot be had yet.");
  if (text_blob === null) throw noText();
  return text_blob;
}

function fileBlob({ original, blob }: DocumentRow): string {
  if (original !== "file") throw noFile();
  return blob;
}

/** What a document holds (spec: Knowledge API): its text, and the file that it came as. */
export function contentRoutes(app: App, http: Http): void {
  const params = z.object({ id: z.string() });
  const described = { tags: ["Knowledge"], security: [{ key: [] }], params };

  const text = { ...described, summary: "A document's Markdown", produces: ["text/markdown"] };
  app.get("/documents/:id/text", { schema: text }, async ({ caller, params }, reply) => {
    const { bytes } = await bytesOf(http, caller, params.id, textBlob);
    if (!bytes) throw noText();
    return reply
      .headers({ "content-type": "text/markdown; charset=utf-8", "x-content-type-options": "nosniff" })
      .send(bytes);
  });

  app.get(
    "/documents/:id/content",
    { schema: { ...described, summary: "The original bytes" } },
    async (request, reply) => {
      const { row, bytes } = await bytesOf(http, request.caller, request.params.id, fileBlob);
      if (!bytes) throw noFile();
      return reply.headers(servedAs({ mime_type: row.mime_type, filename: row.name })).send(bytes);
    },
  );
}
