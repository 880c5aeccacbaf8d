import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { streamOf } from "#events/ids.ts";
import { Actor, CancelRun } from "#events/run.ts";
import { listRuns } from "#projections/runs/query.ts";
import type { App } from "../app.ts";
import { requireCredential, requireSession } from "../auth/authenticate.ts";
import type { Caller } from "../auth/caller.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { listOf, PageQuery, pageOf } from "../page.ts";
import { findWorkflow } from "./find.ts";
import { WaitQuery, watchEnds } from "./ends.ts";
import { foldRun, isLive, stillRunning } from "./fold.ts";
import { actorOf, reachRun } from "./reach.ts";
import { Listed, presentListed, presentRun, Run, RunStatus } from "./runShape.ts";
import { opener } from "./value.ts";

/** PostgreSQL knows no year 0, nor any from 10000. */
const moment = z.iso
  .datetime({ offset: true })
  .refine((text) => Number.isFinite(Date.parse(text)) && Date.parse(text) > 0, "must be after 1970");
const Filters = PageQuery.extend({
  status: RunStatus.optional(),
  from: moment.optional().describe("Started at or after this moment."),
  to: moment.optional().describe("Started before this moment."),
  external_user_id: z.string().max(256).optional(),
  trigger_id: z.uuid().optional(),
});
const Reason = z.object({ reason: z.string().max(1_000).nullish() }).nullish();
const Cancelled = z.object({
  id: z.string(),
  status: z.literal("cancelled"),
  cancelled_at: z.iso.datetime(),
  cancelled_by: Actor,
  steps_still_running: z.int().describe("They are not interrupted, and finish or fail on their own."),
});

const dateOf = (text: string | undefined): Date | null => (text === undefined ? null : new Date(text));

/** The organization's people but those who only look on. */
function requireHand({ session }: Caller): void {
  if (session?.role === "viewer") throw new ApiError("forbidden", "A viewer may look at runs only.");
}

async function cancel(http: Http, request: FastifyRequest, id: string, reason: string | null) {
  const { caller } = request;
  requireHand(caller);
  const row = await reachRun(http, caller, id);
  const stream = streamOf("run", row.id);
  await http.send(CancelRun, {
    stream,
    organization_id: caller.organization_id,
    principal: caller.principal,
    request_id: request.id,
    data: { run_id: row.id, by: actorOf(caller), reason },
    waitFor: ["runs"],
  });
  const course = foldRun(await http.history(stream));
  return {
    id: row.id,
    status: "cancelled" as const,
    cancelled_at: course.completed_at!.toISOString(),
    cancelled_by: course.cancelled_by!,
    steps_still_running: stillRunning(course).length,
  };
}

/** Reading runs, and cancelling them. */
export function readRoutes(app: App, http: Http): void {
  const described = { tags: ["Workflows"], security: [{ key: [] }] };
  const signedIn = { ...described, security: [{ session: [] }] };
  const one = z.object({ run_id: z.string() });

  const listing = {
    ...signedIn,
    summary: "Runs of a workflow, newest first",
    params: z.object({ id: z.string() }),
    querystring: Filters,
    response: { 200: listOf(Listed) },
  };
  app.get("/:id/runs", { onRequest: requireSession(http), schema: listing }, async ({ caller, params, query }) => {
    const page = pageOf(query);
    const workflow = await findWorkflow(http, caller, params.id);
    await http.freshRead(["runs"]);
    const { status = null, external_user_id = null, trigger_id = null } = query;
    const filter = { status, external_user_id, trigger_id, from: dateOf(query.from), to: dateOf(query.to) };
    const { rows, total } = await listRuns(http.db, workflow.id, filter, page);
    return { data: rows.map(presentListed), total, ...page };
  });

  const reading = {
    ...described,
    summary: "A run with its steps and result",
    description: "It is read from the log: what happened a moment ago is in it.",
    params: one,
    querystring: WaitQuery,
    response: { 200: Run },
  };
  const waitForEnd = watchEnds(http);
  app.get("/runs/:run_id", { onRequest: requireCredential(http), schema: reading }, async (request, reply) => {
    const { caller, params, query } = request;
    const found = await reachRun(http, caller, params.run_id);
    if (isLive(found)) await waitForEnd(found.id, query.wait, reply);
    const row = isLive(found) ? await reachRun(http, caller, found.id) : found;
    return presentRun(row, foldRun(await http.history(streamOf("run", row.id))), opener(http, row));
  });

  const cancelling = {
    ...signedIn,
    summary: "Cancel a run",
    description: "No further tick, and no secret from then on.",
    params: one,
    body: Reason,
    response: { 200: Cancelled },
  };
  app.post("/runs/:run_id/cancel", { onRequest: requireSession(http), schema: cancelling }, (request) =>
    cancel(http, request, request.params.run_id, request.body?.reason ?? null),
  );
}
