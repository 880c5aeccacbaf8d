import type { FastifyError, FastifyRequest } from "fastify";
import { z } from "zod";
import { externalClaim } from "#events/documentClaims.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { identifyPost } from "../base/idempotency.ts";
import { describeList, sliceResponse } from "../base/pageResponse.ts";
import { validator } from "../base/validate.ts";
import { formRoute } from "../upload/formRoute.ts";
import { readUpload, UploadForm } from "../upload/readUpload.ts";
import { findHolder } from "../upload/storeOnce.ts";
import type { CollectionRow } from "#projections/collections/query.ts";
import { MAX_METADATA_KEYS, MAX_TAGS } from "#events/documentInput.ts";
import { CollectionQuery, listFiltered } from "./documentList.ts";
import { Document, presentDocument, presentReading, PushTextBody, PUSH_CODES } from "./documentShape.ts";
import { findDocument, requireCollection } from "./lookups.ts";
import { pushText } from "./pushText.ts";
import { describeUpload, storeFile } from "./uploadDocument.ts";

/** JSON.parse blocks the process: 64 MiB take a second. */
export const MAX_PUSH_BYTES = 16 * 1024 * 1024;

export function refusePush(error: FastifyError): never {
  if (error.code !== "FST_ERR_CTP_BODY_TOO_LARGE") throw error;
  const message = "The request body is larger than 16 MiB; upload a longer text as a file.";
  throw new ApiError("request_too_large", message, { cause: error });
}

const Form = UploadForm.extend({
  tags: z.string().optional().describe(`A tag or a JSON array of tags; may be repeated. At most ${MAX_TAGS} tags.`),
  metadata: z.string().optional().describe(`A JSON object with at most ${MAX_METADATA_KEYS} keys of your own.`),
  readers: z.string().optional().describe("A JSON array of who may read it; absent: everybody."),
});

/** Finds a document in a collection by the caller's own id. */
async function findByExternalId(
  http: Http,
  { caller }: FastifyRequest,
  { collection_id, external_id, user }: { collection_id: string; external_id: string; user: string | undefined },
) {
  const holder = await findHolder(http, `external:${externalClaim(http.keyring, collection_id, external_id)}`);
  const row = holder && (await findDocument(http, caller, holder, user));
  return row ? [row] : [];
}

async function uploadFile(http: Http, request: FastifyRequest, collection_id: string) {
  const file = await readUpload(request, { pictures: http.settings.OCR });
  const path = `/api/v1/knowledge/collections/${collection_id}/documents`;
  const identity = identifyPost(request, path, { body: file.sha256, more: describeUpload(file) });
  return storeFile(http, request, { ...file, collection_id, identity });
}

const findCollection = (http: Http, { caller, params }: FastifyRequest) =>
  requireCollection(http, caller, (params as { reference: string }).reference);

async function listDocuments(http: Http, request: FastifyRequest, id: string, query: CollectionQuery) {
  const { external_id, user } = query;
  const status = query.status ?? null;
  if (external_id === undefined) return listFiltered(http, request.caller, [id], query);
  await http.waitUntilCurrent(["documents"]);
  const found = await findByExternalId(http, request, { collection_id: id, external_id, user });
  const rows = found.filter((row) => status === null || row.status === status);
  return sliceResponse(query, rows, presentReading(http));
}

/** Listing, uploading and pushing the documents of a collection (spec: Knowledge API). */
export function collectionDocumentRoutes(app: App, http: Http): void {
  const params = z.object({ reference: z.string().describe("Slug or id of the collection.") });
  const baseSchema = { tags: ["Knowledge"], security: [{ key: [] }], params };
  const find = (request: FastifyRequest) => findCollection(http, request);
  const checked = new WeakMap<FastifyRequest, CollectionRow>();
  // checks before the body is read; storing fails with the same 404 if the collection is deleted meanwhile
  const checkCollection = async (request: FastifyRequest) => void checked.set(request, await find(request));
  const response = { 200: Document.describe("The collection has it already."), 202: Document };

  const listing = { ...describeList(baseSchema, "List documents", Document), querystring: CollectionQuery };
  app.get(
    "/collections/:reference/documents",
    { schema: listing, validatorCompiler: validator([[/^status$/, "invalid_status"]]) },
    async (request) => listDocuments(http, request, (await find(request)).id, request.query),
  );

  const uploading = {
    ...baseSchema,
    summary: "Upload a document",
    consumes: ["multipart/form-data"],
    body: Form,
    response,
  };
  const uploadRoute = { ...formRoute("invalid_body", checkCollection), schema: uploading };
  app.post("/collections/:reference/documents", uploadRoute, async (request, reply) => {
    const { status, document } = await uploadFile(http, request, checked.get(request)!.id);
    return reply.code(status).send(presentDocument(document));
  });

  const pushing = { ...baseSchema, summary: "Push Markdown or plain text", body: PushTextBody, response };
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
      const { id } = checked.get(request)!;
      const path = `/api/v1/knowledge/collections/${id}/documents/text`;
      const place = { collection_id: id, identity: identifyPost(request, path) };
      const { document } = await pushText(http, request, place, request.body);
      return reply.code(202).send(presentDocument(document));
    },
  );
}
