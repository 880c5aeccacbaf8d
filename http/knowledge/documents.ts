import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { ChangeDocument, DeleteDocument, ReprocessDocument } from "#events/document.ts";
import type { App } from "../app.ts";
import type { Http } from "../deps.ts";
import { nameRequest } from "../upload/keep.ts";
import { validator } from "../validate.ts";
import { Change, CHANGE_CODES, Document, present } from "./documentShape.ts";
import { envelope, underWay } from "./documentStore.ts";
import { findDocument } from "./find.ts";

async function reprocess(http: Http, request: FastifyRequest, document_id: string, reextract: boolean) {
  const path = `/api/v1/knowledge/documents/${document_id}/reprocess`;
  const { id, fingerprint } = nameRequest(request, path, String(reextract));
  const data = { document_id, reextract };
  await http.send(ReprocessDocument, { ...envelope(request, document_id), id, fingerprint, data });
  return underWay(await findDocument(http, request.caller, document_id));
}

/** One document (spec: Knowledge API). */
export function documentRoutes(app: App, http: Http): void {
  const params = z.object({ id: z.string() });
  const described = { tags: ["Knowledge"], security: [{ key: [] }], params };
  const find = ({ caller }: FastifyRequest, id: string) => findDocument(http, caller, id);

  const reading = { ...described, summary: "One document", response: { 200: Document } };
  app.get("/documents/:id", { schema: reading }, async (request) => present(await find(request, request.params.id)));

  const changing = { ...described, summary: "Rename or tag a document", body: Change, response: { 200: Document } };
  app.patch("/documents/:id", { schema: changing, validatorCompiler: validator(CHANGE_CODES) }, async (request) => {
    const { id: document_id } = await find(request, request.params.id);
    const data = { document_id, ...request.body };
    await http.send(ChangeDocument, { ...envelope(request, document_id), data, mustFollow: true });
    return present(await find(request, document_id));
  });

  const reprocessing = {
    ...described,
    summary: "Index a document again",
    querystring: z.object({
      reextract: z.string().optional().describe("`true` reads the original again, which is charged for."),
    }),
    response: { 202: Document },
  };
  app.post("/documents/:id/reprocess", { schema: reprocessing }, async (request, reply) => {
    const { id } = await find(request, request.params.id);
    const document = await reprocess(http, request, id, request.query.reextract === "true");
    return reply.code(202).send(present(document));
  });

  const deleting = { ...described, summary: "Delete a document and its passages", response: { 204: z.null() } };
  app.delete("/documents/:id", { schema: deleting }, async (request, reply) => {
    const { id: document_id } = await find(request, request.params.id);
    await http.send(DeleteDocument, { ...envelope(request, document_id), data: { document_id }, mustFollow: true });
    return reply.code(204).send(null);
  });
}
