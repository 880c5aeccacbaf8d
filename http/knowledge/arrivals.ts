import type { FastifyError, FastifyRequest } from "fastify";
import { z } from "zod";
import { DOCUMENT_STATUSES, listDocuments } from "#projections/documents/query.ts";
import type { App } from "../app.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { listOf, PageQuery, pageOf } from "../page.ts";
import { MAX_FILE_BYTES, OVERHEAD_BYTES } from "../upload/form.ts";
import { nameRequest } from "../upload/keep.ts";
import { MOST_TAGS } from "../upload/tags.ts";
import { readUpload, requireForm, UploadForm } from "../upload/upload.ts";
import { validator } from "../validate.ts";
import { Document, present, Push, PUSH_CODES } from "./documentShape.ts";
import { findCollection } from "./find.ts";
import { pushText } from "./pushText.ts";
import { answered, contentClaim, keepDocument } from "./uploadDocument.ts";

/** JSON is parsed in one go: 64 MiB of it kept everybody waiting for a second. */
const MAX_PUSH_BYTES = 16 * 1024 * 1024;

function refusePush(error: FastifyError): never {
  if (error.code !== "FST_ERR_CTP_BODY_TOO_LARGE") throw error;
  const message = "The request body is larger than 16 MiB; a longer text can be uploaded as a file.";
  throw new ApiError("request_too_large", message, { cause: error });
}

const Form = UploadForm.extend({
  tags: z.string().optional().describe(`A tag or a JSON array of tags; may be repeated. ${MOST_TAGS} at most.`),
});

async function upload(http: Http, request: FastifyRequest, collection_id: string) {
  const sent = await readUpload(request);
  const { name, mime_type, tags, sha256 } = sent;
  const path = `/api/v1/knowledge/collections/${collection_id}/documents`;
  const arriving = {
    ...sent,
    collection_id,
    original: "file" as const,
    external_id: null,
    external_claim: null,
    content_claim: contentClaim(http, collection_id, sha256, null),
    named: nameRequest(request, path, sha256, [name, mime_type, ...tags]),
  };
  return answered(http, request, arriving, await keepDocument(http, request, arriving));
}

/** The documents of a collection (spec: Knowledge API): what is there, and what is sent. */
export function arrivalRoutes(app: App, http: Http): void {
  const params = z.object({ reference: z.string().describe("Slug or id of the collection.") });
  const described = { tags: ["Knowledge"], security: [{ key: [] }], params };
  const find = ({ caller, params }: FastifyRequest) =>
    findCollection(http, caller, (params as { reference: string }).reference);
  // no body is read for a collection that is not there
  const refuseEarly = async (request: FastifyRequest) => void (await find(request));
  const asIs = { 200: Document.describe("It was there already."), 202: Document };

  const status = z.enum(DOCUMENT_STATUSES, `must be one of ${DOCUMENT_STATUSES.join(", ")}`).optional();
  const listing = {
    ...described,
    summary: "List documents",
    querystring: PageQuery.extend({ status }),
    response: { 200: listOf(Document) },
  };
  app.get(
    "/collections/:reference/documents",
    { schema: listing, validatorCompiler: validator([[/^status$/, "invalid_status"]]) },
    async (request) => {
      const { id } = await find(request);
      const page = pageOf(request.query);
      await http.freshRead(["documents"]);
      const { rows, total } = await listDocuments(http.db, id, { status: request.query.status ?? null, ...page });
      return { data: rows.map(present), total, ...page };
    },
  );

  const uploading = {
    ...described,
    summary: "Upload a document",
    consumes: ["multipart/form-data"],
    body: Form,
    response: asIs,
  };
  app.post(
    "/collections/:reference/documents",
    {
      bodyLimit: MAX_FILE_BYTES + OVERHEAD_BYTES,
      onRequest: [refuseEarly, requireForm],
      schema: uploading,
      // the form is no parsed body: readUpload checks its parts
      validatorCompiler: () => (value) => ({ value }),
    },
    async (request, reply) => {
      const { id } = await find(request);
      const { status, document } = await upload(http, request, id);
      return reply.code(status).send(present(document));
    },
  );

  const pushing = { ...described, summary: "Push Markdown or plain text", body: Push, response: asIs };
  app.post(
    "/collections/:reference/documents/text",
    {
      bodyLimit: MAX_PUSH_BYTES,
      errorHandler: refusePush,
      onRequest: refuseEarly,
      schema: pushing,
      validatorCompiler: validator(PUSH_CODES),
    },
    async (request, reply) => {
      const { id } = await find(request);
      const { status, document } = await pushText(http, request, id, request.body);
      return reply.code(status).send(present(document));
    },
  );
}
