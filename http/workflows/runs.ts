import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { streamName } from "#events/ids.ts";
import { CancelRun } from "#events/run.ts";
import { Actor } from "#events/runOrigin.ts";
import { listRuns, type RunFilter } from "#projections/runs/query.ts";
import { requireCredential, requireSession } from "../auth/authenticate.ts";
import type { Caller } from "../base/caller.ts";
import type { App } from "../base/app.ts";
import { commandFields } from "../base/commandFields.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { Moment } from "../base/moment.ts";
import { describeList, pageResponse } from "../base/pageResponse.ts";
import { PageQuery } from "../base/pagination.ts";
import { readStreamWithBudget } from "../base/readStreamWithBudget.ts";
import { toDate } from "../base/times.ts";
import { actorFrom } from "./actor.ts";
import { readCancellation } from "./cancellation.ts";
import { foldRun, isLive } from "./foldRun.ts";
import { requireRun, requireWorkflow } from "./lookups.ts";
import { actOnNewestRun } from "./newestRun.ts";
import { presentRun, presentSummary, Run, RunStatus, RunSummary } from "./runShape.ts";
import { countOpenedBytes, createOpenValue } from "./runValues.ts";
import { createWaitForEnd, WaitQuery } from "./waitForEnd.ts";

/** What the lists of runs, and changes of many runs, filter by. */
export const runFilters = {
  status: RunStatus.optional(),
  from: Moment.optional().describe("Only runs created at or after this moment."),
  to: Moment.optional().describe("Only runs created before this moment."),
  external_user_id: z.string().max(256).optional(),
  trigger_id: z.uuid().optional(),
  parent_id: z.uuid().optional().describe("Only runs that retry, fork or continue this run."),
  starter_id: z.uuid().optional().describe("Only runs that this run started."),
  started_by: z
    .string()
    .max(100)
    .optional()
    .describe("Only runs that this person, key or webhook started: `person:<id>`, `key:<id>`, `webhook:<id>`."),
  q: z.string().max(500).optional().describe("Only runs whose error contains this text, in any case."),
};
const Filters = PageQuery.extend(runFilters);
const AllFilters = Filters.extend({ workflow_id: z.uuid().optional() });
const Reading = WaitQuery.extend({
  step_values: z
    .enum(["true", "false"])
    .optional()
    .describe("`false` leaves out arguments and results of steps, which `/steps` has in pages."),
  steps: z
    .enum(["true", "false"])
    .optional()
    .describe("`false` leaves out the steps themselves, which `/steps` has in pages: `steps` is empty then."),
});
const Reason = z.object({ reason: z.string().max(1_000).nullish() }).nullish();
const Cancellation = z
  .object({
    id: z.string().describe("The id of the cancelled run: the newest of its chain, if other runs have continued it."),
    status: z.literal("cancelled"),
    cancelled_at: z.iso.datetime(),
    cancelled_by: Actor,
    cancel_reason: z.string().nullable(),
    steps_still_running: z.int().describe("These steps are not interrupted; they complete or fail on their own."),
  })
  .meta({ title: "Cancellation" });

type RunQuery = Omit<z.infer<typeof AllFilters>, "limit" | "offset">;

export function toRunFilter(query: RunQuery): RunFilter {
  const {
    workflow_id = null,
    status = null,
    external_user_id = null,
    trigger_id = null,
    parent_id = null,
    starter_id = null,
    started_by = null,
    q: error = null,
  } = query;
  const [from, to] = [toDate(query.from), toDate(query.to)];
  return { workflow_id, status, external_user_id, trigger_id, parent_id, starter_id, started_by, error, from, to };
}

function list({ db }: Http, { organization_id }: Caller, query: z.infer<typeof AllFilters>) {
  const filter = toRunFilter(query);
  return pageResponse(query, (page) => listRuns(db, organization_id, filter, page), presentSummary);
}

function checkMayCancel({ session }: Caller): void {
  if (session?.role === "viewer") throw new ApiError("forbidden", "A viewer may not cancel runs.");
}

const isContinued = (error: unknown): boolean => error instanceof ApiError && error.errorCode === "run_continued";

/**
 * Cancels a run, or the one that continues it, and returns the id of the cancelled run. Throws 403 `forbidden`, 404
 * `run_not_found`, 409 `run_not_live`.
 */
export async function cancelRun(
  http: Http,
  request: FastifyRequest,
  id: string,
  reason: string | null,
): Promise<string> {
  const { caller } = request;
  checkMayCancel(caller);
  const named = await requireRun(http, caller, id);
  const by = actorFrom(caller);
  const row = await actOnNewestRun(http, named, async (newest) => {
    const fields = commandFields(request, streamName("run", newest.id), ["runs"]);
    try {
      await http.send(CancelRun, { ...fields, data: { run_id: newest.id, by, reason } });
      return newest;
    } catch (error) {
      if (!isContinued(error)) throw error;
      return undefined;
    }
  });
  if (!row) throw new ApiError("run_continued", "Another run continues this one and could not be found; try again.");
  return row.id;
}

/** Reading and cancelling runs. */
export function runRoutes(app: App, http: Http): void {
  const baseSchema = { tags: ["Workflows"], security: [{ key: [] }] };
  const signedIn = { ...baseSchema, security: [{ session: [] }] };
  const RunPath = z.object({ run_id: z.string() });

  const listing = {
    ...describeList(signedIn, "List the runs of a workflow, newest first", RunSummary),
    params: z.object({ id: z.string() }),
    querystring: Filters,
  };
  app.get("/:id/runs", { onRequest: requireSession(http), schema: listing }, async ({ caller, params, query }) => {
    const workflow = await requireWorkflow(http, caller, params.id);
    await http.waitUntilCurrent(["runs"]);
    return list(http, caller, { ...query, workflow_id: workflow.id });
  });

  const listingAll = {
    ...describeList(signedIn, "List the runs of all workflows, newest first", RunSummary),
    querystring: AllFilters,
  };
  app.get("/runs", { onRequest: requireSession(http), schema: listingAll }, async ({ caller, query }) => {
    await http.waitUntilCurrent(["runs"]);
    return list(http, caller, query);
  });

  const reading = {
    ...baseSchema,
    summary: "Get a run with its steps and result",
    description: "Read from the log, so it includes every event so far.",
    params: RunPath,
    querystring: Reading,
    response: { 200: Run },
  };
  const waitForEnd = createWaitForEnd(http);
  app.get("/runs/:run_id", { onRequest: requireCredential(http), schema: reading }, async (request, reply) => {
    const { caller, params, query } = request;
    const found = await requireRun(http, caller, params.run_id);
    if (isLive(found)) await waitForEnd(found.id, query.wait, reply);
    const row = isLive(found) ? await requireRun(http, caller, found.id) : found;
    const run = await foldRun(await readStreamWithBudget(http, request, streamName("run", row.id)));
    const show = query.steps === "false" ? "counts" : query.step_values === "false" ? "steps" : "values";
    return presentRun(row, run, countOpenedBytes(request, createOpenValue(http, row)), show);
  });

  const cancelling = {
    ...signedIn,
    summary: "Cancel a run",
    description:
      "From then on the run executes no tick, and its steps read no secret. For a run that has called continueAs(), the run that " +
      "continues it is cancelled.",
    params: RunPath,
    body: Reason,
    response: { 200: Cancellation },
  };
  app.post("/runs/:run_id/cancel", { onRequest: requireSession(http), schema: cancelling }, async (request) => {
    const id = await cancelRun(http, request, request.params.run_id, request.body?.reason ?? null);
    return { id, status: "cancelled" as const, ...(await readCancellation(http, id)) };
  });
}
