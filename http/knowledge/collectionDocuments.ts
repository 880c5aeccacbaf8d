import type { FastifyError, FastifyRequest } from "fastify";
import { z } from "zod";
import { DOCUMENT_STATUSES, listDocuments } from "#projections/documents/query.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { identifyPost } from "../base/idempotency.ts";
import { describeList, pageResponse, slicePage } from "../base/pageResponse.ts";
import { PageQuery } from "../base/pagination.ts";
import { validator } from "../base/validate.ts";
import { formRoute, readUpload, UploadForm } from "../upload/readUpload.ts";
import { findHolder } from "../upload/storeOnce.ts";
import { MAX_METADATA_KEYS } from "../upload/metadata.ts";
import { MAX_TAGS } from "../upload/tags.ts";
import { checkReaders, managesDocuments, readerOf } from "./documentAccess.ts";
import { Document, present, Push, PUSH_CODES, UserQuery } from "./documentShape.ts";
import { findDocument, requireCollection } from "./lookups.ts";
import { pushText } from "./pushText.ts";
import { answerUpload, contentClaim, externalClaim, storeDocument } from "./uploadDocument.ts";

/** JSON.parse blocks the process: 64 MiB took a second. */
const MAX_PUSH_BYTES = 16 * 1024 * 1024;

function refusePush(error: FastifyError): never {
  if (error.code !== "FST_ERR_CTP_BODY_TOO_LARGE") throw error;
  const message = "The request body is larger than 16 MiB; upload a longer text as a file.";
  throw new ApiError("request_too_large", message, { cause: error });
}

const Form = UploadForm.extend({
  tags: z.string().optional().describe(`A tag or a JSON array of tags; may be repeated. At most ${MAX_TAGS} tags.`),
  metadata: z.string().optional().describe(`A JSON object with at most ${MAX_METADATA_KEYS} keys of your own.`),
  readers: z.string().optional().describe("A JSON array of who may read it; absent: everybody."),
});

const ListQuery = PageQuery.extend(UserQuery.shape).extend({
  status: z.enum(DOCUMENT_STATUSES, `must be one of ${DOCUMENT_STATUSES.join(", ")}`).optional(),
  external_id: z.string().optional().describe("Lists only the document with this id of the caller's own."),
});

/** The document of a collection that the caller gave this id. */
async function findByExternalId(
  http: Http,
  { caller }: FastifyRequest,
  { collection_id, external_id, user }: { collection_id: string; external_id: string; user: string | undefined },
) {
  const holder = await findHolder(http, `external:${externalClaim(http, collection_id, external_id)}`);
  const row = holder && (await findDocument(http, caller, holder, user));
  return row ? [row] : [];
}

async function uploadFile(http: Http, request: FastifyRequest, collection_id: string) {
  const file = await readUpload(request, { pictures: http.settings.OCR });
  const { name, mime_type, tags, metadata, readers, sha256 } = file;
  await checkReaders(http, request.caller.organization_id, readers);
  const details = [metadata, readers].filter((sent) => sent !== undefined);
  const described = [name, mime_type, ...tags, ...details.map((sent) => JSON.stringify(sent))];
  const path = `/api/v1/knowledge/collections/${collection_id}/documents`;
  const upload = {
    ...file,
    collection_id,
    original: "file" as const,
    external_id: null,
    external_claim: null,
    content_claim: contentClaim(http, collection_id, sha256, null),
    identity: identifyPost(request, path, { body: sha256, more: described }),
  };
  return answerUpload(http, request, upload, await storeDocument(http, request, upload));
}

const findCollection = (http: Http, { caller, params }: FastifyRequest) =>
  requireCollection(http, caller, (params as { reference: string }).reference);

async function listIn(http: Http, request: FastifyRequest, id: string, query: z.infer<typeof ListQuery>) {
  const { external_id, user } = query;
  const status = query.status ?? null;
  await http.freshRead(["documents"]);
  if (external_id === undefined) {
    const { caller } = request;
    const readable_by = managesDocuments(caller, user) ? null : await readerOf(http, caller, user);
    return pageResponse(query, (page) => listDocuments(http.db, id, { status, readable_by, ...page }), present);
  }
  const found = await findByExternalId(http, request, { collection_id: id, external_id, user });
  const rows = found.filter((row) => status === null || row.status === status);
  return pageResponse(query, async (page) => slicePage(rows, page), present);
}

/** Listing, uploading and pushing the documents of a collection (spec: Knowledge API). */
export function collectionDocumentRoutes(app: App, http: Http): void {
  const params = z.object({ reference: z.string().describe("Slug or id of the collection.") });
  const described = { tags: ["Knowledge"], security: [{ key: [] }], params };
  const find = (request: FastifyRequest) => findCollection(http, request);
  // before the body is read
  const checkCollection = async (request: FastifyRequest) => void (await find(request));
  const response = { 200: Document.describe("The collection has it already."), 202: Document };

  const listing = { ...describeList(described, "List documents", Document), querystring: ListQuery };
  app.get(
    "/collections/:reference/documents",
    { schema: listing, validatorCompiler: validator([[/^status$/, "invalid_status"]]) },
    async (request) => listIn(http, request, (await find(request)).id, request.query),
  );

  const uploading = {
    ...described,
    summary: "Upload a document",
    consumes: ["multipart/form-data"],
    body: Form,
    response,
  };
  const uploadRoute = { ...formRoute(checkCollection), schema: uploading };
  app.post("/collections/:reference/documents", uploadRoute, async (request, reply) => {
    const { id } = await find(request);
    const { status, document } = await uploadFile(http, request, id);
    return reply.code(status).send(present(document));
  });

  const pushing = { ...described, summary: "Push Markdown or plain text", body: Push, response };
  app.post(
    "/collections/:reference/documents/text",
    {
      bodyLimit: MAX_PUSH_BYTES,
      errorHandler: refusePush,
      onRequest: checkCollection,
      schema: pushing,
      validatorCompiler: validator(PUSH_CODES),
    },
    async (request, reply) => {
      const { id } = await find(request);
      await checkReaders(http, request.caller.organization_id, request.body.readers);
      const { status, document } = await pushText(http, request, id, request.body);
      return reply.code(status).send(present(document));
    },
  );
}
