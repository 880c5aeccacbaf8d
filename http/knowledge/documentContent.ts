import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { streamName } from "#events/ids.ts";
import { estimateTextBytes } from "#events/textSize.ts";
import type { DocumentRow } from "#projections/documents/query.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { reserveAnswerBytes, waitToRead } from "../base/sendFile.ts";
import { downloadHeaders } from "../base/downloadHeaders.ts";
import { UserQuery, VersionQuery } from "./documentShape.ts";
import { requireReadable, requireVersion } from "./lookups.ts";

const open = ({ vault }: Http, { id, wrapped_key }: DocumentRow, blob: string): Promise<Buffer | undefined> =>
  vault.get({ thing: streamName("document", id), wrapped_key }, blob);

/**
 * Reads a blob of a document. The blob may be deleted after the row was read, because the next generation became live or the
 * document was deleted. Then the current row has another blob, or none.
 */
async function readBlob(
  http: Http,
  request: FastifyRequest,
  { id, user }: { id: string; user: string | undefined },
  selectBlob: (row: DocumentRow) => string,
): Promise<{ row: DocumentRow; bytes: Buffer | undefined }> {
  const { caller } = request;
  const row = await requireReadable(http, caller, id, user);
  await waitToRead(request, estimateTextBytes(row));
  const bytes = await open(http, row, selectBlob(row));
  if (bytes) return { row, bytes };
  const current = await requireReadable(http, caller, id, user);
  return { row: current, bytes: await open(http, current, selectBlob(current)) };
}

export const noExtractedText = () => new ApiError("no_extracted_text", "No text was extracted from the document.");
const noFile = () => new ApiError("no_stored_file", "The document has no stored file.");

/** The blob key of the Markdown. Throws `not_ready` and `no_extracted_text`. */
export function requireText({ status, text_blob }: DocumentRow): string {
  if (status === "pending" || status === "processing")
    throw new ApiError("not_ready", "The document is not ready; its text is not available yet.");
  if (text_blob === null) throw noExtractedText();
  return text_blob;
}

/** Reads the Markdown of a version. Undefined if it is no longer stored. */
async function readVersion(
  http: Http,
  request: FastifyRequest,
  { id, user }: { id: string; user: string | undefined },
  version: number,
): Promise<Buffer | undefined> {
  const row = await requireVersion(http, request.caller, { id, user, version });
  await waitToRead(request, estimateTextBytes(row));
  return row.text_blob === null ? undefined : open(http, row, row.text_blob);
}

function fileBlob({ original, blob }: DocumentRow): string {
  if (original !== "file") throw noFile();
  return blob;
}

/** The text and the original file of a document (spec: Knowledge API). */
export function contentRoutes(app: App, http: Http): void {
  const params = z.object({ id: z.string() });
  const baseSchema = { tags: ["Knowledge"], security: [{ key: [] }], params, querystring: UserQuery };

  const versioned = { ...baseSchema, querystring: VersionQuery };
  const text = { ...versioned, summary: "Get the Markdown of a document", produces: ["text/markdown"] };
  app.get("/documents/:id/text", { schema: text }, async (request, reply) => {
    const {
      params: { id },
      query: { user, version },
    } = request;
    const bytes =
      version === undefined
        ? (await readBlob(http, request, { id, user }, requireText)).bytes
        : await readVersion(http, request, { id, user }, Number(version));
    if (!bytes) throw noExtractedText();
    return reply
      .headers({ "content-type": "text/markdown; charset=utf-8", "x-content-type-options": "nosniff" })
      .send(bytes);
  });

  app.get(
    "/documents/:id/content",
    { schema: { ...baseSchema, summary: "Get the original file of a document" } },
    async (request, reply) => {
      const { params, query } = request;
      const selectFile = (row: DocumentRow): string => {
        const blob = fileBlob(row);
        reserveAnswerBytes(request, reply, row.size_bytes);
        return blob;
      };
      const { row, bytes } = await readBlob(http, request, { id: params.id, user: query.user }, selectFile);
      if (!bytes) throw noFile();
      return reply.headers(downloadHeaders({ mime_type: row.mime_type, filename: row.name })).send(bytes);
    },
  );
}
