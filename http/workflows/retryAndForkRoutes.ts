import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { requireBuilder, requireRunner } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { ForkBody, forkRun, retryRun } from "./retryAndFork.ts";
import { requireRun } from "./lookups.ts";
import { presentSummary, RunSummary } from "./runShape.ts";

/**
 * Retry and fork of ended runs. Both read and copy a whole run, in many short pieces, so they wait for a place like the long
 * reads of their organization.
 */
export function retryAndForkRoutes(app: App, http: Http): void {
  const baseSchema = {
    tags: ["Workflows"],
    security: [{ session: [] }],
    params: z.object({ run_id: z.string() }),
    response: { 202: RunSummary },
  };
  const sendStarted = async (request: FastifyRequest, reply: FastifyReply, id: string) => {
    const started = presentSummary(await requireRun(http, request.caller, id));
    return reply.code(202).header("location", `/api/workflows/runs/${started.id}`).send(started);
  };

  const retrying = {
    ...baseSchema,
    summary: "Retry a failed or cancelled run",
    description:
      "Starts a new run that keeps every answer of this one, so it continues from the step that failed. Its steps have the same " +
      "idempotency keys. Repeating the request returns the same run.",
  };
  app.post("/runs/:run_id/retry", { onRequest: requireRunner(http), schema: retrying }, async (request, reply) => {
    await request.acquireLongRead();
    return sendStarted(request, reply, await retryRun(http, request, request.params.run_id));
  });

  const forking = {
    ...baseSchema,
    summary: "Start a new run from a step of an ended one",
    description:
      "Keeps the answers before `step_id` and makes all later calls again, with new idempotency keys. With other arguments, another " +
      "result or another version, people are asked again for approval.",
    body: ForkBody.nullish(),
  };
  app.post("/runs/:run_id/fork", { onRequest: requireBuilder(http), schema: forking }, async (request, reply) => {
    await request.acquireLongRead();
    return sendStarted(request, reply, await forkRun(http, request, request.params.run_id, request.body ?? {}));
  });
}
