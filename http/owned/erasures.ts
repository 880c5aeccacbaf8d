import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { EraseOwner, ERASED_KINDS, MAX_ERASED_DOCUMENTS, MAX_ERASED_SCOPES } from "#events/erasure.ts";
import { newId, streamName } from "#events/ids.ts";
import { getErasure, listErasures, type ErasureRow } from "#projections/erasures/query.ts";
import { runScope } from "#events/scope.ts";
import { listDocumentsForUser } from "#projections/documents/owned.ts";
import { listUnmarkedRuns } from "#projections/runs/ownedRuns.ts";
import { findUsedScopes, listUserScopes } from "#projections/userScopes.ts";
import { requireAdmin } from "../auth/authenticate.ts";
import { countErasureBeyondLimit } from "../auth/throttle.ts";
import type { App } from "../base/app.ts";
import { commandFields } from "../base/commandFields.ts";
import { checkCount } from "../base/countLimits.ts";
import { downloadHeaders } from "../base/downloadHeaders.ts";
import { jsonLines } from "../base/jsonLines.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { findCurrent } from "../base/findById.ts";
import { markUser } from "../base/limits.ts";
import { createOnce, findCreated, identifyPost } from "../base/idempotency.ts";
import { certificateLines, readCompleted } from "./certificate.ts";
import { ErasedOwner } from "./owner.ts";
import { cursorList, CursorQuery, readCursorPage } from "./page.ts";

const Erasure = z
  .object({
    id: z.string(),
    object: z.literal("erasure"),
    owner: z.string(),
    status: z.enum(["running", "completed"]),
    threads_deleted: z.int().describe("So far, with those that steps of the runs have started."),
    files_deleted: z.int().describe("So far, with those that steps of the runs have saved."),
    runs_deleted: z.int().describe("So far."),
    documents_deleted: z.int().describe("So far."),
    extractions_deleted: z.int().describe("So far."),
    started_by: z.string().describe("`person:<id>`."),
    created_at: z.iso.datetime(),
    completed_at: z.iso.datetime().nullable(),
  })
  .meta({ title: "Erasure" });

const present = (erasure: ErasureRow): z.infer<typeof Erasure> => ({
  id: erasure.id,
  object: "erasure",
  owner: erasure.owner,
  status: erasure.status,
  threads_deleted: erasure.deleted.threads,
  files_deleted: erasure.deleted.files,
  runs_deleted: erasure.deleted.runs,
  documents_deleted: erasure.deleted.documents,
  extractions_deleted: erasure.deleted.extractions,
  started_by: erasure.started_by,
  created_at: erasure.created_at.toISOString(),
  completed_at: erasure.completed_at?.toISOString() ?? null,
});

async function read(http: Http, { caller }: Pick<FastifyRequest, "caller">, id: string) {
  const find = () => getErasure(http.db, caller.organization_id, id);
  const row = await findCurrent(http, ["erasures"], ["erasure", id], find);
  if (!row) throw new ApiError("erasure_not_found", "No erasure has this id.", { param: "id" });
  return present(row);
}

/** Reads the owner whose things are erased. The log gets keyed hashes of an external user instead of the value. */
export async function readErasedOwner(http: Http, organization_id: string, name: string) {
  if (!name.startsWith("user:")) return { owner: name };
  const user = name.slice("user:".length);
  await http.waitUntilCurrent(["turns", "files", "runs", "documents"]);
  const possible = await listUserScopes(http.db, organization_id, user);
  // all of them, if there is room, because the user may use another one before the erasure has started
  const isFew = possible.length <= MAX_ERASED_SCOPES;
  const scopes = [
    ...(isFew ? possible : await findUsedScopes(http.db, organization_id, possible)),
    ...(await listUnmarkedRuns(http.db, organization_id, user)).map(runScope),
  ];
  const documents = await listDocumentsForUser(http.db, organization_id, user);
  if (scopes.length > MAX_ERASED_SCOPES)
    throw new ApiError(
      null,
      `owner: the user has things with more than ${MAX_ERASED_SCOPES} keys, agents and runs; delete some of them first.`,
      {
        param: "owner",
      },
    );
  if (documents.length > MAX_ERASED_DOCUMENTS)
    throw new ApiError(
      null,
      `owner: more than ${MAX_ERASED_DOCUMENTS} documents name only this user as reader; delete some of them first.`,
      { param: "owner" },
    );
  return { owner: `user:${markUser(http, organization_id, user)}`, scopes, documents };
}

export const StartErasureBody = z.object({
  owner: ErasedOwner,
  kinds: z
    .array(z.enum(ERASED_KINDS, { error: `must be one of ${ERASED_KINDS.join(", ")}` }))
    .min(1, "must name at least one kind")
    .max(ERASED_KINDS.length, `must name at most ${ERASED_KINDS.length} kinds`)
    .optional()
    .describe("What is deleted: everything by default. With `runs` go the threads and files of their steps."),
});

async function start(http: Http, request: FastifyRequest, body: z.infer<typeof StartErasureBody>) {
  const { owner, kinds = ERASED_KINDS } = body;
  // counts all running erasures, and finds an external user's things among all threads and documents
  await request.acquireLongRead();
  const identity = identifyPost(request, "/api/erasures");
  const earlier = await findCreated(http, identity);
  if (earlier !== undefined) return read(http, request, earlier);
  const { organization_id } = request.caller;
  await checkCount(http, organization_id, "erasures");
  const erased = await readErasedOwner(http, organization_id, owner);
  if (http.logLimits.finalRefusal(organization_id)) await countErasureBeyondLimit(http.loginAttempts, organization_id);
  const erasure_id = newId();
  const { created_id } = await createOnce(http, EraseOwner, {
    ...commandFields(request, streamName("erasure", erasure_id), ["erasures"]),
    ...identity,
    data: { erasure_id, kinds, ...erased },
    requireProjected: true,
  });
  return read(http, request, created_id);
}

/** Erasures delete everything that an owner has. They are accepted at once and continue in the background. For owners and admins. */
export function erasureRoutes(app: App, http: Http): void {
  const onRequest = requireAdmin(http);
  const baseSchema = { tags: ["Erasures"], security: [{ session: [] }] };

  const starting = {
    ...baseSchema,
    summary: "Delete all threads, responses, files, runs, documents and extractions of an owner",
    description:
      "What the key, person or agent has at this moment, whatever the user value; or what all keys, agents and workflows store for an external user. Runs that still go on are cancelled first. " +
      "The work goes on in the background, also after a restart; GET shows its progress. Of an agent: the threads in which it answers.",
    body: StartErasureBody,
    response: { 202: Erasure },
  };
  app.post("/erasures", { onRequest, schema: starting }, async (request, reply) =>
    reply.code(202).send(await start(http, request, request.body)),
  );

  const listing = {
    ...baseSchema,
    summary: "List erasures, newest first",
    querystring: CursorQuery,
    response: { 200: cursorList(Erasure) },
  };
  app.get("/erasures", { onRequest, schema: listing }, async ({ caller, query }) => {
    await http.waitUntilCurrent(["erasures"]);
    return readCursorPage(http, caller, query, (page) => listErasures(http.db, caller.organization_id, page), present);
  });

  const reading = {
    ...baseSchema,
    params: z.object({ id: z.string() }),
    summary: "Get an erasure with its progress",
    response: { 200: Erasure },
  };
  app.get("/erasures/:id", { onRequest, schema: reading }, (request) => read(http, request, request.params.id));

  const certifying = {
    ...baseSchema,
    params: z.object({ id: z.string() }),
    summary: "Get the certificate of a completed erasure",
    description:
      "JSON lines: what was erased, when and by whom, each with the hash of its event in the log's chain. `svc log verify --certificate FILE` checks it against the log, " +
      "or against an export of the log, and that no data key of what was erased is left. The last line has the type `end`.",
  };
  app.get("/erasures/:id/certificate", { onRequest, schema: certifying }, async (request, reply) => {
    http.streams.countExport(reply);
    const { id } = await read(http, request, request.params.id);
    const erasure = await readCompleted(http, request.caller.organization_id, id);
    return reply
      .headers(downloadHeaders({ mime_type: "application/x-ndjson", filename: `erasure-${id}.jsonl` }))
      .send(jsonLines(certificateLines(http, request, erasure)));
  });
}
