import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { findRunsToChange } from "#projections/runs/query.ts";
import { requireRunner } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { disconnectSignal } from "../base/disconnect.ts";
import { ApiError } from "../base/errors.ts";
import { releaseAfter } from "../base/readStreamWithBudget.ts";
import { requireLogRoom } from "../base/storageLimits.ts";
import { processInBatches } from "./processInBatches.ts";
import { retryRun } from "./retryAndFork.ts";
import { formatCursor, readCursor } from "./runCursor.ts";
import { cancelRun, runFilters, toRunFilter } from "./runs.ts";

/** Maximum runs per request, so that it answers within a few seconds. */
const MAX_RUNS = 100;

/** The run statuses to which an action applies. */
const STATUSES = { retry: ["failed", "cancelled"], cancel: ["pending", "running"] } as const;

const Body = z.object({
  action: z.enum(["retry", "cancel"]),
  filter: z
    .strictObject({
      ...runFilters,
      status: z.enum(["failed", "cancelled", "pending", "running"]),
      workflow_id: z.uuid().optional(),
    })
    .describe(
      "As in the list of runs. `status`: failed or cancelled for a retry, pending or running for a cancellation.",
    ),
  dry_run: z.boolean().default(true).describe("Only counts the runs; `false` changes them."),
  reason: z.string().max(1_000).nullish().describe("Of a cancellation."),
  limit: z.int().min(1).max(MAX_RUNS).default(50).describe("Runs to change with this request."),
  cursor: z.string().max(100).nullish().describe("`next_cursor` of the previous response."),
});
type Body = z.infer<typeof Body>;

const Changed = z.object({
  run_id: z.string(),
  new_run_id: z.string().nullable().describe("The run that retries it."),
  error: z.object({ code: z.string().nullable(), message: z.string() }).nullable(),
});
const Progress = z
  .object({
    dry_run: z.boolean(),
    data: z.array(Changed).describe("The runs of this request; in a dry run those that it would change."),
    remaining: z.int().describe("Runs that are left for later requests."),
    next_cursor: z.string().nullable().describe("Null when none is left."),
  })
  .meta({ title: "ChangedRuns" });

/** Throws 400 `invalid_status` if the action does not apply to runs of the filter's status. */
function checkStatus({ action, filter }: Body): void {
  const allowed: readonly string[] = STATUSES[action];
  if (allowed.includes(filter.status)) return;
  const message = `filter.status: a ${action} takes runs that are ${allowed.join(" or ")}.`;
  throw new ApiError("invalid_status", message, { param: "filter.status" });
}

/**
 * Changes one run. A refusal becomes part of the response, so that the other runs are still changed. A lack of memory ends the
 * request, which may be repeated.
 */
async function changeOne(http: Http, request: FastifyRequest, { action, reason, dry_run }: Body, run_id: string) {
  if (dry_run) return { run_id, new_run_id: null, error: null };
  try {
    if (action === "retry") {
      const new_run_id = await releaseAfter(request, (budget) => retryRun(http, request, run_id, budget));
      return { run_id, new_run_id, error: null };
    }
    await cancelRun(http, request, run_id, reason ?? null);
    return { run_id, new_run_id: null, error: null };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500 || error.errorCode === "too_many_bytes") throw error;
    return { run_id, new_run_id: null, error: { code: error.errorCode, message: error.message } };
  }
}

async function changeMany(http: Http, reply: FastifyReply, body: Body): Promise<z.infer<typeof Progress>> {
  const { request } = reply;
  checkStatus(body);
  const { organization_id } = request.caller;
  const { dry_run, limit } = body;
  const retries = !dry_run && body.action === "retry";
  if (retries) requireLogRoom(http, organization_id);
  await http.waitUntilCurrent(["runs"]);
  // each retry reads and copies a whole run
  if (retries) await request.acquireLongRead();
  const page = { after: readCursor(body.cursor), limit };
  const { rows, total } = await findRunsToChange(http.db, organization_id, toRunFilter(body.filter), page);
  const change = async ({ id }: (typeof rows)[number]) => [await changeOne(http, request, body, id)];
  const { results: data, next } = await processInBatches(rows, change, disconnectSignal(reply.raw));
  const last = next < total ? rows[next - 1] : undefined;
  return { dry_run, data, remaining: total - next, next_cursor: last ? formatCursor(last) : null };
}

/** Retries or cancels all runs that match a filter, some per request (ADR 40). */
export function changeManyRoute(app: App, http: Http): void {
  const changing = {
    tags: ["Workflows"],
    security: [{ session: [] }],
    summary: "Retry or cancel many runs",
    description:
      "First send it as it is: a dry run counts the runs. Then send it with `dry_run: false`, and again with `next_cursor` until that is " +
      "null. Repeating a request is safe: a run is retried once and cancelled once.",
    body: Body,
    response: { 200: Progress },
  };
  app.post("/runs/change", { onRequest: requireRunner(http), schema: changing }, (request, reply) =>
    changeMany(http, reply, request.body),
  );
}
