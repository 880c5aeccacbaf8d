import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { DeleteFile, UploadFile } from "#events/file.ts";
import { newId, streamOf } from "#events/ids.ts";
import { scopeOf } from "#events/scope.ts";
import { listFiles, type FileRow } from "#projections/files/query.ts";
import type { Caller } from "../auth/caller.ts";
import type { Http } from "../deps.ts";
import { commandId, doneBefore, fingerprintOf, idempotencyKey, madeBefore } from "../idempotency.ts";
import type { App } from "../app.ts";
import { writtenAt } from "../send.ts";
import { servedAs } from "../served.ts";
import { MAX_FILE_BYTES, OVERHEAD_BYTES } from "../upload/form.ts";
import { DeletedFile, File, FileList, present, type Shown, UploadForm } from "./fileShape.ts";
import { fileNotFound, findFile, readFile } from "./store.ts";
import { readUpload, type Upload } from "./upload.ts";

const MOST = 100;

/** Seals and keeps an upload. The same upload under the same idempotency key is kept once. */
async function keep(
  http: Http,
  caller: Caller,
  upload: Upload,
  key: string | undefined,
  request_id: string,
): Promise<Shown> {
  const { organization_id, principal } = caller;
  const { filename, mime_type, purpose, user, bytes, sha256 } = upload;
  const asking = { organization_id, principal, user, method: "POST", path: "/files" };
  const id = commandId(asking, key);
  const file_id = newId();
  const fingerprint = fingerprintOf(asking, sha256, [filename, mime_type, purpose]);
  const repeats = async () => find(http, caller, user, await madeBefore(http.db, organization_id, id, fingerprint));
  if (key !== undefined && (await doneBefore(http.db, organization_id, id, fingerprint))) return repeats();
  const thing = streamOf("file", file_id);
  const wrapped = http.keyring.create(thing);
  const blob = await http.blobs.put(`${organization_id}/${thing}`, await http.keyring.sealLarge(thing, wrapped, bytes));
  const { repeated, followed, position } = await http.send(UploadFile, {
    stream: thing,
    organization_id,
    principal,
    request_id,
    id,
    fingerprint,
    fresh: true,
    keys: { [thing]: wrapped },
    data: { file_id, bytes: bytes.length, mime_type, blob, scope: scopeOf(principal, user), filename, purpose, sha256 },
    waitFor: ["files"],
  });
  if (repeated) return repeats();
  if (followed) return find(http, caller, user, file_id);
  const created_at = await writtenAt(http, position);
  return { id: file_id, filename, purpose, mime_type, bytes: bytes.length, created_at };
}

const Params = z.object({ id: z.string() });
const Query = z.object({ user: z.string().optional().describe("The end user whose file it is.") });
type Named = FastifyRequest<{ Params: { id: string }; Querystring: { user?: string | undefined } }>;

async function find(http: Http, caller: Caller, user: string | undefined, id: string): Promise<FileRow> {
  const row = await findFile(http, caller.organization_id, scopeOf(caller.principal, user), id);
  if (!row) throw fileNotFound("id");
  return row;
}

const findNamed = (
  http: Http,
  { caller, query, params }: Pick<Named, "caller" | "query" | "params">,
): Promise<FileRow> => find(http, caller, query.user, params.id);

async function list({ db, freshRead }: Http, { organization_id, principal }: Caller, user: string | undefined) {
  await freshRead(["files"]);
  const data = (await listFiles(db, organization_id, scopeOf(principal, user), MOST)).map(present);
  const [first_id, last_id] = [data[0]?.id ?? null, data.at(-1)?.id ?? null];
  return { object: "list" as const, data, first_id, last_id, has_more: false as const };
}

async function remove(http: Http, request: Pick<Named, "caller" | "query" | "params" | "id">) {
  const { id } = await findNamed(http, request);
  const { organization_id, principal } = request.caller;
  await http.send(DeleteFile, {
    stream: streamOf("file", id),
    organization_id,
    principal,
    request_id: request.id,
    data: { file_id: id, scope: scopeOf(principal, request.query.user) },
    waitFor: ["files"],
  });
  return { id, object: "file" as const, deleted: true as const };
}

/** The file store. A file belongs to its key and user; to others it does not exist. */
export function fileRoutes(app: App, http: Http): void {
  const described = { tags: ["Files"], security: [{ key: [] }] };
  const uploading = {
    ...described,
    summary: "Upload a file",
    consumes: ["multipart/form-data"],
    body: UploadForm,
    response: { 201: File },
  };
  app.post(
    "/files",
    {
      bodyLimit: MAX_FILE_BYTES + OVERHEAD_BYTES,
      schema: uploading,
      // the form is no parsed body: readUpload checks its parts
      validatorCompiler: () => (value) => ({ value }),
    },
    async (request, reply) => {
      const key = idempotencyKey(request.headers);
      const upload = await readUpload(request);
      return reply.code(201).send(present(await keep(http, request.caller, upload, key, request.id)));
    },
  );

  const listing = { ...described, summary: "The newest files", querystring: Query, response: { 200: FileList } };
  app.get("/files", { schema: listing }, ({ caller, query }) => list(http, caller, query.user));

  const one = { ...described, params: Params, querystring: Query };
  const reading = { ...one, summary: "One file", response: { 200: File } };
  app.get("/files/:id", { schema: reading }, async (request) => present(await findNamed(http, request)));

  app.get("/files/:id/content", { schema: { ...one, summary: "A file's bytes" } }, async (request, reply) => {
    const row = await findNamed(http, request);
    const bytes = await readFile(http, row);
    if (!bytes) throw fileNotFound("id");
    return reply.headers(servedAs(row)).send(bytes);
  });

  const deleting = { ...one, summary: "Delete a file", response: { 200: DeletedFile } };
  app.delete("/files/:id", { schema: deleting }, (request) => remove(http, request));
}
