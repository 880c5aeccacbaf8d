import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { DeleteFile, UploadFile } from "#events/file.ts";
import { blobFolder, newId, parseStreamName, streamName } from "#events/ids.ts";
import { ownerScope } from "#events/scope.ts";
import { listFiles, type FileRow } from "#projections/files/query.ts";
import type { Caller } from "../base/caller.ts";
import type { Http } from "../base/deps.ts";
import { createOnce, identifyPost, findPreviousOutcome, readIdempotencyKey } from "../base/idempotency.ts";
import type { App } from "../base/app.ts";
import { markUser, uploadSpender, runWithinLimits } from "../base/limits.ts";
import { readRecordedAt } from "../base/send.ts";
import { requireStorage } from "../base/storageLimits.ts";
import { sendFile } from "../base/sendFile.ts";
import { formRoute } from "../upload/formRoute.ts";
import { File, FileList, presentFile, type PresentedFile, UploadForm } from "./fileShape.ts";
import { DeletedFile, fileNotFound, findFile, readFile } from "../turns/files.ts";
import { readFileUpload, type FileUpload } from "./readFileUpload.ts";

const MAX_LISTED = 100;

/** Seals and stores an upload. Repetitions under the same idempotency key store nothing. */
async function store(http: Http, request: FastifyRequest, upload: FileUpload): Promise<PresentedFile> {
  const { caller, id: request_id } = request;
  const { organization_id, principal } = caller;
  const { filename, mime_type, purpose, user, bytes, sha256 } = upload;
  const identity = identifyPost(request, "/files", { user, body: sha256, more: [filename, mime_type, purpose] });
  const previous = (await findPreviousOutcome(http, identity))?.event;
  if (previous) return find(http, caller, user, parseStreamName(previous.stream).id);
  await requireStorage(http, organization_id, { bytes: bytes.length, param: "file" });
  const file_id = newId();
  const thing = streamName("file", file_id);
  const wrapped_key = http.vault.createKey(thing);
  const blob = await http.vault.put({ thing, wrapped_key, folder: blobFolder(organization_id, thing) }, bytes);
  const content = { file_id, bytes: bytes.length, mime_type, blob, sha256 };
  const user_mark = markUser(http, organization_id, user);
  const admission = { request, spender: uploadSpender(caller, user_mark), wanted: { bytes: bytes.length } };
  const scope = ownerScope(principal, user);
  const { isNew, created_id, projected, position } = await runWithinLimits(http, admission, () =>
    createOnce(http, UploadFile, {
      stream: thing,
      principal,
      request_id,
      ...identity,
      keys: { [thing]: wrapped_key },
      data: { ...content, scope, ...(user_mark !== null && { user_mark }), filename, purpose },
      waitFor: ["files"],
    }),
  );
  if (!isNew || projected) return find(http, caller, user, created_id);
  const created_at = await readRecordedAt(http, position);
  return { id: file_id, filename, purpose, mime_type, bytes: bytes.length, created_at };
}

const Params = z.object({ id: z.string() });
const Query = z.object({ user: z.string().optional().describe("The end user whose file it is.") });
type FileRequest = FastifyRequest<{ Params: { id: string }; Querystring: { user?: string | undefined } }>;

async function find(http: Http, caller: Caller, user: string | undefined, id: string): Promise<FileRow> {
  const row = await findFile(http, caller.organization_id, ownerScope(caller.principal, user), id);
  if (!row) throw fileNotFound("id");
  return row;
}

const findRequested = (
  http: Http,
  { caller, query, params }: Pick<FileRequest, "caller" | "query" | "params">,
): Promise<FileRow> => find(http, caller, query.user, params.id);

async function list(
  { db, waitUntilCurrent }: Http,
  { caller, query }: { caller: Caller; query: { user?: string | undefined; purpose?: string | undefined } },
) {
  await waitUntilCurrent(["files"]);
  const scope = ownerScope(caller.principal, query.user);
  const rows = await listFiles(db, caller.organization_id, scope, MAX_LISTED, query.purpose);
  const data = rows.map(presentFile);
  const [first_id, last_id] = [data[0]?.id ?? null, data.at(-1)?.id ?? null];
  return { object: "list" as const, data, first_id, last_id, has_more: false as const };
}

async function remove(http: Http, request: Pick<FileRequest, "caller" | "query" | "params" | "id">) {
  const { id } = await findRequested(http, request);
  const { organization_id, principal } = request.caller;
  await http.send(DeleteFile, {
    stream: streamName("file", id),
    organization_id,
    principal,
    request_id: request.id,
    data: { file_id: id, scope: ownerScope(principal, request.query.user) },
    waitFor: ["files"],
  });
  return { id, object: "file" as const, deleted: true as const };
}

/** The file store. A file belongs to a key and a user; all others get 404. */
export function fileRoutes(app: App, http: Http): void {
  const baseSchema = { tags: ["Files"], security: [{ key: [] }] };
  const uploading = {
    ...baseSchema,
    summary: "Upload a file",
    consumes: ["multipart/form-data"],
    body: UploadForm,
    response: { 201: File },
  };
  app.post("/files", { ...formRoute("invalid_multipart"), schema: uploading }, async (request, reply) => {
    // refuses a malformed key before the upload is read
    readIdempotencyKey(request.headers);
    const upload = await readFileUpload(request);
    return reply.code(201).send(presentFile(await store(http, request, upload)));
  });

  const querystring = Query.extend({ purpose: z.string().optional().describe("Only files of this purpose.") });
  const listing = { ...baseSchema, summary: "The newest files", querystring, response: { 200: FileList } };
  app.get("/files", { schema: listing }, (request) => list(http, request));

  const itemSchema = { ...baseSchema, params: Params, querystring: Query };
  const reading = { ...itemSchema, summary: "One file", response: { 200: File } };
  app.get("/files/:id", { schema: reading }, async (request) => presentFile(await findRequested(http, request)));

  app.get("/files/:id/content", { schema: { ...itemSchema, summary: "A file's bytes" } }, async (request, reply) => {
    const row = await findRequested(http, request);
    if (!(await sendFile(request, reply, row, () => readFile(http, row)))) throw fileNotFound("id");
    return reply;
  });

  const deleting = { ...itemSchema, summary: "Delete a file", response: { 200: DeletedFile } };
  app.delete("/files/:id", { schema: deleting }, (request) => remove(http, request));
}
