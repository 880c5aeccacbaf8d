import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { ChangeDocument, DeleteDocument } from "#events/document.ts";
import type { DocumentRow } from "#projections/documents/query.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { identifyPost } from "../base/idempotency.ts";
import { requireLanguages } from "../base/ocrLanguages.ts";
import { requireLogRoom } from "../base/storageLimits.ts";
import { validator } from "../base/validate.ts";
import { checkReaders, takesReadersAway } from "./documentAccess.ts";
import {
  ChangeDocumentBody,
  CHANGE_CODES,
  Document,
  presentDocument,
  presentReading,
  UserQuery,
} from "./documentShape.ts";
import { markProcessing, commandFor, reprocessDocument } from "./existingDocument.ts";
import { readChangedDocument, requireDocument } from "./lookups.ts";

const ReprocessQuery = z.object({
  reextract: z.string().optional().describe("`true`: reads the original file again, which counts as usage."),
  ocr_languages: z
    .string()
    .optional()
    .describe(
      "With `reextract=true`: languages of text in pictures, as `deu,eng` (`GET /api/ocr` lists them). Default: those that it was read in before, else the organization's.",
    ),
});

/** The languages to read a file in; undefined: as before. Throws a 400. */
function readLanguages(http: Http, { reextract, ocr_languages }: z.infer<typeof ReprocessQuery>) {
  if (ocr_languages === undefined) return undefined;
  if (reextract !== "true") {
    const message = "ocr_languages: needs reextract=true, because only the original file has pictures.";
    throw new ApiError(null, message, { param: "ocr_languages" });
  }
  const sent = ocr_languages.split(",").map((language) => language.trim());
  return requireLanguages(http, "ocr_languages", sent);
}

async function reprocess(http: Http, request: FastifyRequest, row: DocumentRow, query: z.infer<typeof ReprocessQuery>) {
  const reextract = query.reextract === "true";
  const ocr_languages = readLanguages(http, query);
  const path = `/api/v1/knowledge/documents/${row.id}/reprocess`;
  const identity = identifyPost(request, path, { body: [reextract, ...(ocr_languages ?? [])].join(" ") });
  await reprocessDocument(http, request, row, { ...identity, reextract, ocr_languages });
  return markProcessing(await requireDocument(http, request.caller, row.id));
}

/** One document (spec: Knowledge API). */
export function documentRoutes(app: App, http: Http): void {
  const params = z.object({ id: z.string() });
  const baseSchema = { tags: ["Knowledge"], security: [{ key: [] }], params };
  const find = ({ caller }: FastifyRequest, id: string) => requireDocument(http, caller, id);

  const reading = { ...baseSchema, summary: "Get a document", querystring: UserQuery, response: { 200: Document } };
  app.get("/documents/:id", { schema: reading }, async ({ caller, params, query }) =>
    presentReading(http)(await requireDocument(http, caller, params.id, query.user)),
  );

  const changing = {
    ...baseSchema,
    summary: "Change the name, tags, metadata or readers of a document",
    body: ChangeDocumentBody,
    response: { 200: Document },
  };
  app.patch("/documents/:id", { schema: changing, validatorCompiler: validator(CHANGE_CODES) }, async (request) => {
    const row = await find(request, request.params.id);
    const { caller, body } = request;
    if (!takesReadersAway(row, body)) requireLogRoom(http, caller.organization_id);
    const document_id = row.id;
    await checkReaders(http, caller.organization_id, body.readers);
    const data = { document_id, ...body };
    await http.send(ChangeDocument, { ...commandFor(request, document_id), data, requireProjected: true });
    return presentDocument(await readChangedDocument(http, caller, document_id));
  });

  const reprocessing = {
    ...baseSchema,
    summary: "Index a document again",
    querystring: ReprocessQuery,
    response: { 202: Document },
  };
  app.post("/documents/:id/reprocess", { schema: reprocessing }, async (request, reply) => {
    const row = await find(request, request.params.id);
    const document = await reprocess(http, request, row, request.query);
    return reply.code(202).send(presentDocument(document));
  });

  const deleting = { ...baseSchema, summary: "Delete a document and its passages", response: { 204: z.null() } };
  app.delete("/documents/:id", { schema: deleting }, async (request, reply) => {
    const { id: document_id } = await find(request, request.params.id);
    await http.send(DeleteDocument, {
      ...commandFor(request, document_id),
      data: { document_id },
      requireProjected: true,
    });
    return reply.code(204).send(null);
  });
}
