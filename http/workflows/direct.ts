import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { streamOf } from "#events/ids.ts";
import type { App } from "../app.ts";
import { requireCredential } from "../auth/authenticate.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { idempotencyKey } from "../idempotency.ts";
import { notReadable } from "../send.ts";
import { findWorkflow } from "./find.ts";
import { isObject } from "./payload.ts";
import { actorOf } from "./reach.ts";
import { startRun } from "./start.ts";

const Started = z.object({ id: z.string(), status: z.literal("pending"), created_at: z.iso.datetime() });

/** The body's `args`. Throws 400 `invalid_args`. */
function argsOf(body: unknown): Record<string, unknown> {
  const args = isObject(body) && Object.hasOwn(body, "args") ? body["args"] : undefined;
  if (isObject(args)) return args;
  throw new ApiError("invalid_args", "args: must be a JSON object.", { param: "args" });
}

/** When a run was started, as it says itself ever after. */
async function createdAt({ db }: Pick<Http, "db">, run_id: string): Promise<string> {
  const [row] = await db.query<{ data: string }>("select data from log.events where stream = $1 and version = 1", [
    streamOf("run", run_id),
  ]);
  if (!row) throw notReadable();
  return (JSON.parse(row.data) as { created_at: string }).created_at;
}

async function start(http: Http, request: FastifyRequest, id: string) {
  const { caller } = request;
  const key = idempotencyKey(request.headers);
  const workflow = await findWorkflow(http, caller, id);
  const run_id = await startRun(http, workflow, {
    request,
    principal: caller.principal,
    path: `/${workflow.id}/runs`,
    key,
    args: argsOf(request.body),
    started_by: actorOf(caller),
    trigger_id: null,
    // whoever starts it, it acts for whom the envelope says (spec: Workflow API, rule 4)
    run_as: workflow.envelope.run_as,
    external_user_id: null,
  });
  return { id: run_id, status: "pending" as const, created_at: await createdAt(http, run_id) };
}

/** Starting a run with a session or an API key; no default arguments apply. */
export function directRoutes(scope: App, http: Http): void {
  const starting = {
    tags: ["Workflows"],
    security: [{ key: [] }],
    summary: "Start a run",
    params: z.object({ id: z.string() }),
    body: z.object({ args: z.record(z.string(), z.unknown()) }),
    response: { 202: Started },
  };
  scope.post(
    "/:id/runs",
    // a schema would drop names such as __proto__
    { onRequest: requireCredential(http), schema: starting, validatorCompiler: () => (value) => ({ value }) },
    async (request, reply) => {
      const started = await start(http, request, request.params.id);
      return reply.code(202).header("location", `/api/workflows/runs/${started.id}`).send(started);
    },
  );
}
