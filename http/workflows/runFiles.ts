import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { isUuid, streamName } from "#events/ids.ts";
import { runScope } from "#events/scope.ts";
import { getAnyFile, listFiles, type FileRow } from "#projections/files/query.ts";
import { listHandedFiles } from "#projections/runs/approvalFiles.ts";
import { requireCredential } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { findOrWait } from "../base/findById.ts";
import { sendFile } from "../base/sendFile.ts";
import { fileNotFound, readFile } from "../turns/files.ts";
import { requireRun } from "./lookups.ts";

/** Maximum files listed per run. */
const MAX_LISTED = 1_000;

export const RunFile = z
  .object({
    id: z.string(),
    name: z.string(),
    mime_type: z.string(),
    bytes: z.int(),
    given: z.boolean().describe("True if the run got it at its start or with an approval; false if a step saved it."),
    approval_id: z.string().nullable().describe("The approval whose decision or comment included the file."),
    created_at: z.iso.datetime(),
  })
  .meta({ title: "RunFile" });

/** Where a file of a run comes from. */
type Origin = Pick<z.infer<typeof RunFile>, "given" | "approval_id">;

export const presentFile = (row: FileRow, { given, approval_id }: Origin): z.infer<typeof RunFile> => ({
  id: row.id,
  name: row.filename,
  mime_type: row.mime_type,
  bytes: row.bytes,
  given,
  approval_id,
  created_at: row.created_at.toISOString(),
});

/** The files given to the run: at its start, then with approvals. */
async function givenFiles({ db, log }: Pick<Http, "db" | "log">, run_id: string) {
  const created = (await log.publicData(streamName("run", run_id), 1)) as { files?: string[] } | undefined;
  const started = (created?.files ?? []).map((file_id) => ({ file_id, approval_id: null }));
  const handed = (await listHandedFiles(db, run_id)).filter(({ file_id }) => !created?.files?.includes(file_id));
  return [...started, ...handed];
}

/** Lists the files given to the run, then those saved by its steps, oldest first. */
async function list(http: Http, { caller }: FastifyRequest, run_id: string) {
  const { db, waitUntilCurrent } = http;
  const run = await requireRun(http, caller, run_id);
  await waitUntilCurrent(["files"]);
  await waitUntilCurrent(["runs"], streamName("run", run.id));
  const { organization_id } = caller;
  const present = async ({ file_id, approval_id }: { file_id: string; approval_id: string | null }) => {
    const row = await getAnyFile(db, organization_id, file_id);
    return row ? [presentFile(row, { given: true, approval_id })] : [];
  };
  const given = await Promise.all((await givenFiles(http, run.id)).map(present));
  const saved = await listFiles(db, organization_id, runScope(run.id), MAX_LISTED);
  return {
    data: [...given.flat(), ...saved.toReversed().map((row) => presentFile(row, { given: false, approval_id: null }))],
  };
}

/** Files of a run: for everybody who may read the run. */
export function runFileRoutes(app: App, http: Http): void {
  const baseSchema = { tags: ["Workflows"], security: [{ key: [] }] };
  const listing = {
    ...baseSchema,
    summary: "List the files of a run",
    params: z.object({ run_id: z.string() }),
    response: { 200: z.object({ data: z.array(RunFile) }) },
  };
  app.get("/runs/:run_id/files", { onRequest: requireCredential(http), schema: listing }, (request) =>
    list(http, request, request.params.run_id),
  );

  const reading = {
    ...baseSchema,
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
      if (!row || !(await sendFile(request, reply, row, () => readFile(http, row)))) throw fileNotFound("file_id");
      return reply;
    },
  );
}

/** Finds a file that the run got at its start or with an approval, or that one of its steps saved. */
async function findRunFile(
  http: Pick<Http, "db" | "log" | "waitUntilCurrent">,
  organization_id: string,
  run_id: string,
  file_id: string,
): Promise<FileRow | undefined> {
  if (!isUuid(file_id)) return undefined;
  const id = file_id.toLowerCase();
  const find = () => getAnyFile(http.db, organization_id, id);
  const row = await findOrWait(find, () => http.waitUntilCurrent(["files"], streamName("file", id)));
  if (row?.scope === runScope(run_id)) return row;
  await http.waitUntilCurrent(["runs"], streamName("run", run_id));
  return (await givenFiles(http, run_id)).some((one) => one.file_id === id) ? row : undefined;
}
