import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { isUuid, streamName } from "#events/ids.ts";
import { runScope } from "#events/scope.ts";
import { getAnyFile, listFiles, type FileRow } from "#projections/files/query.ts";
import { requireCredential } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { findOrWait } from "../base/findById.ts";
import { sendFile } from "../base/sendFile.ts";
import { fileNotFound, readFile } from "../turns/files.ts";
import { requireRun } from "./lookups.ts";

/** Files of one run that are listed. */
const MAX_LISTED = 1_000;

export const RunFile = z.object({
  id: z.string(),
  name: z.string(),
  mime_type: z.string(),
  bytes: z.int(),
  given: z.boolean().describe("Handed to the run by who started it; otherwise a step saved it."),
  created_at: z.iso.datetime(),
});

export const presentFile = (row: FileRow, given: boolean): z.infer<typeof RunFile> => ({
  id: row.id,
  name: row.filename,
  mime_type: row.mime_type,
  bytes: row.bytes,
  given,
  created_at: row.created_at.toISOString(),
});

/** Ids of the files that were handed to a run. */
async function givenFiles({ log }: Pick<Http, "log">, run_id: string): Promise<string[]> {
  const created = (await log.publicData(streamName("run", run_id), 1)) as { files?: string[] } | undefined;
  return created?.files ?? [];
}

/** What was handed to the run, then what its steps have saved, oldest first. */
async function list(http: Http, { caller }: FastifyRequest, run_id: string) {
  const { db, freshRead } = http;
  const run = await requireRun(http, caller, run_id);
  await freshRead(["files"]);
  const { organization_id } = caller;
  const given = await Promise.all((await givenFiles(http, run.id)).map((id) => getAnyFile(db, organization_id, id)));
  const saved = await listFiles(db, organization_id, runScope(run.id), MAX_LISTED);
  return {
    data: [
      ...given.flatMap((row) => (row ? [presentFile(row, true)] : [])),
      ...saved.toReversed().map((row) => presentFile(row, false)),
    ],
  };
}

/** Files of a run: for everybody who may read the run. */
export function runFileRoutes(app: App, http: Http): void {
  const described = { tags: ["Workflows"], security: [{ key: [] }] };
  const listing = {
    ...described,
    summary: "List the files of a run",
    params: z.object({ run_id: z.string() }),
    response: { 200: z.object({ data: z.array(RunFile) }) },
  };
  app.get("/runs/:run_id/files", { onRequest: requireCredential(http), schema: listing }, (request) =>
    list(http, request, request.params.run_id),
  );

  const reading = {
    ...described,
    summary: "The bytes of a file of a run",
    params: z.object({ run_id: z.string(), file_id: z.string() }),
  };
  app.get(
    "/runs/:run_id/files/:file_id/content",
    { onRequest: requireCredential(http), schema: reading },
    async (request, reply) => {
      const { run_id, file_id } = request.params;
      const run = await requireRun(http, request.caller, run_id);
      const row = await findRunFile(http, request.caller.organization_id, run.id, file_id);
      const sent = row && (await sendFile(request, reply, row, () => readFile(http, row)));
      if (!sent) throw fileNotFound("file_id");
      return sent;
    },
  );
}

/** A file that was handed to the run, or that one of its steps has saved. */
export async function findRunFile(
  http: Pick<Http, "db" | "log" | "freshRead">,
  organization_id: string,
  run_id: string,
  file_id: string,
): Promise<FileRow | undefined> {
  if (!isUuid(file_id)) return undefined;
  const id = file_id.toLowerCase();
  const find = () => getAnyFile(http.db, organization_id, id);
  const row = await findOrWait(find, () => http.freshRead(["files"], streamName("file", id)));
  const isOwn = row?.scope === runScope(run_id) || (await givenFiles(http, run_id)).includes(id);
  return isOwn ? row : undefined;
}
