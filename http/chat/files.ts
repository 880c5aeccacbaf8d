import { create as contentDisposition } from "content-disposition";
import { z } from "zod";
import { DeleteFile, UploadFile } from "#events/file.ts";
import { idFrom, newId, streamOf } from "#events/ids.ts";
import { scopeOf } from "#events/scope.ts";
import { getFile, listFiles, type FileRow } from "#projections/files/query.ts";
import type { Caller } from "../auth/caller.ts";
import type { Http } from "../deps.ts";
import { commandId, fingerprintOf, idempotencyKey } from "../idempotency.ts";
import type { App } from "../server.ts";
import { fileNotFound, readFile } from "./store.ts";
import { MAX_FILE_BYTES, readUpload, type Upload } from "./upload.ts";

const MOST = 100;

const File = z.object({
  id: z.string(),
  object: z.literal("file"),
  bytes: z.int(),
  created_at: z.int().describe("Unix seconds."),
  filename: z.string(),
  purpose: z.string(),
  mime_type: z.string(),
  status: z.literal("processed"),
});
const FileList = z.object({
  object: z.literal("list"),
  data: z.array(File),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.literal(false),
});

const present = ({ id, bytes, created_at, filename, purpose, mime_type }: FileRow): z.infer<typeof File> => ({
  id,
  object: "file",
  bytes,
  created_at: Math.floor(created_at.getTime() / 1000),
  filename,
  purpose,
  mime_type,
  // clients poll for 30 minutes without it
  status: "processed",
});

/** Seals and keeps an upload; its id. The same upload under the same idempotency key is kept once. */
async function keep(
  http: Http,
  caller: Caller,
  upload: Upload,
  key: string | undefined,
  request_id: string,
): Promise<string> {
  const { organization_id, principal } = caller;
  const { filename, mime_type, purpose, user, bytes, sha256 } = upload;
  const asking = { organization_id, principal, user, method: "POST", path: "/files" };
  const id = commandId(asking, key);
  const file_id = key === undefined ? newId() : idFrom(id, "file");
  const thing = streamOf("file", file_id);
  const wrapped = http.keyring.create(thing);
  const blob = await http.blobs.put(`${organization_id}/${thing}`, http.keyring.seal(thing, wrapped, bytes));
  await http.send(UploadFile, {
    stream: thing,
    organization_id,
    principal,
    request_id,
    id,
    fingerprint: fingerprintOf(asking, sha256, [filename, mime_type, purpose]),
    fresh: true,
    keys: { [thing]: wrapped },
    data: { file_id, bytes: bytes.length, mime_type, blob, scope: scopeOf(principal, user), filename, purpose, sha256 },
    waitFor: ["files"],
  });
  return file_id;
}

const Params = z.object({ id: z.string() });
const Query = z.object({ user: z.string().optional().describe("The end user whose file it is.") });
const described = { tags: ["Files"], security: [{ key: [] }] };

/** The file store (spec: File object). A file belongs to its key and user; to others it does not exist. */
export function fileRoutes(app: App, http: Http): void {
  const find = async (
    { organization_id, principal }: Caller,
    user: string | undefined,
    id: string,
  ): Promise<FileRow> => {
    const row = await getFile(http.db, organization_id, scopeOf(principal, user), id);
    if (!row) throw fileNotFound("id");
    return row;
  };

  app.post(
    "/files",
    {
      bodyLimit: MAX_FILE_BYTES + 1024 * 1024,
      schema: {
        ...described,
        summary: "Upload a file",
        description: "multipart/form-data with `file` (required), `purpose` (default `user_data`) and `user`.",
        consumes: ["multipart/form-data"],
        response: { 201: File },
      },
    },
    async (request, reply) => {
      const key = idempotencyKey(request.headers);
      const upload = await readUpload(request);
      const id = await keep(http, request.caller, upload, key, request.id);
      return reply.code(201).send(present(await find(request.caller, upload.user, id)));
    },
  );

  app.get(
    "/files",
    { schema: { ...described, summary: "The newest files", querystring: Query, response: { 200: FileList } } },
    async (request) => {
      const { organization_id, principal } = request.caller;
      const rows = await listFiles(http.db, organization_id, scopeOf(principal, request.query.user), MOST);
      const data = rows.map(present);
      return {
        object: "list" as const,
        data,
        first_id: data[0]?.id ?? null,
        last_id: data.at(-1)?.id ?? null,
        has_more: false as const,
      };
    },
  );

  const one = { ...described, params: Params, querystring: Query };
  app.get(
    "/files/:id",
    { schema: { ...one, summary: "One file", response: { 200: File } } },
    async ({ caller, query, params }) => present(await find(caller, query.user, params.id)),
  );

  app.get(
    "/files/:id/content",
    { schema: { ...one, summary: "A file's bytes" } },
    async ({ caller, query, params }, reply) => {
      const row = await find(caller, query.user, params.id);
      const bytes = await readFile(http, row);
      if (!bytes) throw fileNotFound("id");
      return reply.headers(servedAs(row)).send(bytes);
    },
  );

  const Deleted = z.object({ id: z.string(), object: z.literal("file"), deleted: z.literal(true) });
  app.delete(
    "/files/:id",
    { schema: { ...one, summary: "Delete a file", response: { 200: Deleted } } },
    async ({ caller, query, params, id: request_id }) => {
      const { id } = await find(caller, query.user, params.id);
      const { organization_id, principal } = caller;
      const scope = scopeOf(principal, query.user);
      const stream = streamOf("file", id);
      await http.send(DeleteFile, {
        stream,
        organization_id,
        principal,
        request_id,
        data: { file_id: id, scope },
        waitFor: ["files"],
      });
      return { id, object: "file" as const, deleted: true as const };
    },
  );
}

/** What came from a client is never shown as a page of ours. */
const servedAs = ({ mime_type, filename }: FileRow): Record<string, string> => ({
  "content-type": mime_type,
  "content-disposition": contentDisposition(filename),
  "x-content-type-options": "nosniff",
  "content-security-policy": "sandbox; default-src 'none'",
  "cross-origin-resource-policy": "same-origin",
});
