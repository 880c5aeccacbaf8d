import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { DeleteFile } from "#events/file.ts";
import { streamName } from "#events/ids.ts";
import { getAnyFile, listFilesOf, type FileRow } from "#projections/files/query.ts";
import { readOwner } from "#projections/owner.ts";
import { requireAdmin } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import { commandFields } from "../base/commandFields.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { findCurrent } from "../base/findById.ts";
import { DeletedFile } from "../turns/files.ts";
import { OwnerName } from "./owner.ts";
import { cursorList, CursorQuery, readCursorPage } from "./page.ts";

const ListedFile = z
  .object({
    id: z.string(),
    object: z.literal("file"),
    owner: z.string().describe("`key:<id>` or `person:<id>`."),
    filename: z.string(),
    purpose: z.string(),
    mime_type: z.string(),
    bytes: z.int(),
    created_at: z.iso.datetime(),
  })
  .meta({ title: "StoredFile" });

const present = (file: FileRow): z.infer<typeof ListedFile> => ({
  id: file.id,
  object: "file",
  owner: file.principal,
  filename: file.filename,
  purpose: file.purpose,
  mime_type: file.mime_type,
  bytes: file.bytes,
  created_at: file.created_at.toISOString(),
});

async function remove(http: Http, request: FastifyRequest, id: string): Promise<z.infer<typeof DeletedFile>> {
  const { organization_id } = request.caller;
  const find = () => getAnyFile(http.db, organization_id, id);
  const file = await findCurrent(http, ["files"], ["file", id], find);
  if (!file) throw new ApiError("file_not_found", "No file has this id.", { param: "id" });
  const data = { file_id: file.id, scope: file.scope };
  await http.send(DeleteFile, { ...commandFields(request, streamName("file", file.id), ["files"]), data });
  return { id: file.id, object: "file", deleted: true };
}

/** The files of all owners, for owners and admins. Only a file's owner may read its bytes. */
export function fileRoutes(app: App, http: Http): void {
  const onRequest = requireAdmin(http);
  const baseSchema = { tags: ["Files"], security: [{ session: [] }] };

  const listing = {
    ...baseSchema,
    summary: "List the files of a key or person, newest first",
    querystring: CursorQuery.extend({ owner: OwnerName }),
    response: { 200: cursorList(ListedFile) },
  };
  app.get("/files", { onRequest, schema: listing }, async ({ caller, query }) => {
    await http.waitUntilCurrent(["files"]);
    const owner = readOwner(query.owner);
    return readCursorPage(
      http,
      caller,
      query,
      (page) => listFilesOf(http.db, caller.organization_id, owner, page),
      present,
    );
  });

  const deleting = {
    ...baseSchema,
    params: z.object({ id: z.string() }),
    summary: "Delete a file of any owner",
    response: { 200: DeletedFile },
  };
  app.delete("/files/:id", { onRequest, schema: deleting }, (request) => remove(http, request, request.params.id));
}
