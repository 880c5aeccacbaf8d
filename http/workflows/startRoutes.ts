import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { streamName } from "#events/ids.ts";
import { RunFiles } from "#events/runOrigin.ts";
import { PRIORITIES, Priority } from "#events/workflow.ts";
import type { WorkflowRow } from "#projections/workflows/query.ts";
import type { App } from "../base/app.ts";
import { requireCredential } from "../auth/authenticate.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { readIdempotencyKey } from "../base/idempotency.ts";
import { notReadableYet } from "../base/send.ts";
import { actorFrom } from "./actor.ts";
import { requireExact } from "../base/exactNumbers.ts";
import { isObject } from "#events/json.ts";
import { requireWorkflow } from "./lookups.ts";
import { readOwnFiles } from "./ownFiles.ts";
import { startRun } from "./startRun.ts";

const Started = z
  .object({ id: z.string(), status: z.literal("pending"), created_at: z.iso.datetime() })
  .meta({ title: "StartedRun" });

const readField = (body: unknown, name: string): unknown =>
  isObject(body) && Object.hasOwn(body, name) ? body[name] : undefined;

/** Throws 400 `invalid_args`. */
function readArgs(body: unknown): Record<string, unknown> {
  const args = readField(body, "args");
  requireExact(args, "args", "invalid_args");
  if (isObject(args)) return args;
  throw new ApiError("invalid_args", "args: must be a JSON object.", { param: "args" });
}

/** From the first event, so that a repeated request gets the same time. */
async function readCreatedAt({ log }: Pick<Http, "log">, run_id: string): Promise<string> {
  const created = (await log.publicData(streamName("run", run_id), 1)) as { created_at: string } | undefined;
  if (!created) throw notReadableYet();
  return created.created_at;
}

/** A caller may lower the priority of its run, but not raise it above the workflow's. Throws 400 `invalid_priority`. */
function readPriority(body: unknown, { envelope }: WorkflowRow): Priority | undefined {
  const sent = readField(body, "priority");
  if (sent === undefined || sent === null) return undefined;
  const allowed = PRIORITIES.slice(0, PRIORITIES.indexOf(envelope.priority ?? "normal") + 1);
  const found = allowed.find((one) => one === sent);
  if (found !== undefined) return found;
  const message = `priority: must be ${allowed.map((one) => `"${one}"`).join(" or ")}: the workflow allows no higher one.`;
  throw new ApiError("invalid_priority", message, { param: "priority" });
}

async function start(http: Http, request: FastifyRequest, id: string) {
  const { caller } = request;
  const key = readIdempotencyKey(request.headers);
  const workflow = await requireWorkflow(http, caller, id);
  const run_id = await startRun(http, workflow, {
    request,
    principal: caller.principal,
    path: `/${workflow.id}/runs`,
    key,
    body: request.bodyHash,
    args: readArgs(request.body),
    readMore: async () => ({
      files: await readOwnFiles(http, caller, readField(request.body, "files")),
      priority: readPriority(request.body, workflow),
    }),
    started_by: actorFrom(caller),
    trigger_id: null,
    // the run acts for the principal in the envelope, regardless of who starts it (spec: Workflow API, rule 4)
    run_as: workflow.envelope.run_as,
    external_user_id: null,
  });
  return { id: run_id, status: "pending" as const, created_at: await readCreatedAt(http, run_id) };
}

/** Starts a run with a session or an API key. The default arguments of triggers do not apply. */
export function startRoutes(scope: App, http: Http): void {
  const starting = {
    tags: ["Workflows"],
    security: [{ key: [] }],
    summary: "Start a run",
    params: z.object({ id: z.string() }),
    body: z.object({
      args: z.record(z.string(), z.unknown()),
      priority: Priority.optional().describe("Not above that of the workflow, which is the default."),
      files: RunFiles.optional().describe(
        "Ids of files that you have uploaded to the chat API's /files. The steps of the run may read them, and so may everybody who can read the run.",
      ),
    }),
    response: { 202: Started },
  };
  scope.post(
    "/:id/runs",
    // a schema would drop fields such as __proto__
    { onRequest: requireCredential(http), schema: starting, validatorCompiler: () => (value) => ({ value }) },
    async (request, reply) => {
      const started = await start(http, request, request.params.id);
      return reply.code(202).header("location", `/api/workflows/runs/${started.id}`).send(started);
    },
  );
}
