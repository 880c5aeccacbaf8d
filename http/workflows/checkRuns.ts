import type { FastifyRequest } from "fastify";
import { z } from "zod";
import type { DefinitionRow } from "#projections/definitions/query.ts";
import { listRunsOfDefinition, type RunRow } from "#projections/runs/query.ts";
import { checkScript } from "../account/definitionScript.ts";
import { bodyLimit, requireDefinition } from "../account/definitions.ts";
import { source } from "../account/definitionShape.ts";
import { requireBuilder } from "../auth/authenticate.ts";
import type { Caller } from "../base/caller.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { disconnectSignal } from "../base/disconnect.ts";
import { ApiError } from "../base/errors.ts";
import { releaseAfter } from "../base/readStreamWithBudget.ts";
import type { Replay } from "../base/runReplayer.ts";
import { processInBatches } from "./processInBatches.ts";
import { readRecordedRun } from "./recordedRun.ts";
import { formatCursor, readCursor } from "./runCursor.ts";
import { RunStatus } from "./runShape.ts";

/** Maximum runs checked per request. */
const MAX_RUNS = 100;

const Body = z.object({
  source,
  limit: z.int().min(1).max(MAX_RUNS).default(MAX_RUNS).describe("Runs to check with this request, newest first."),
  workflow_id: z.uuid().nullish().describe("Only runs of this workflow."),
  status: RunStatus.nullish().describe("Only runs with this status."),
  cursor: z.string().max(100).nullish().describe("`next_cursor` of the previous response."),
});
type Body = z.infer<typeof Body>;

const Call = z.object({ kind: z.string().describe("`step`, `approval`, `timer` …"), name: z.string().nullable() });
const place = {
  line: z.int().nullable().describe("Line in the new source, from 1."),
  column: z.int().nullable().describe("Column, from 1."),
};
const CheckedRun = z.object({
  run_id: z.string(),
  workflow_id: z.string(),
  status: RunStatus,
  definition_version: z.int().describe("The version that the run was recorded with."),
  outcome: z
    .enum(["same", "different", "failed", "unanswered"])
    .describe(
      "`same`: it makes the same calls and ends in the same way. `different`: a call or the end differs. `failed`: run() throws. " +
        "`unanswered`: all recorded calls are the same, and then it makes a call that was never answered.",
    ),
  difference: z
    .object({
      reason: z
        .enum(["arguments", "call", "missing", "added", "result", "end"])
        .describe(
          "`arguments`: `recorded` is made with other arguments. `call`: `call` is made instead of `recorded`. `missing`: `recorded` is " +
            "not made. `added`: `call` is made as well. `result`: the result differs. `end`: one run waits or fails, and the other ends.",
        ),
      call: Call.nullable(),
      recorded: Call.nullable(),
      pointers: z.array(z.string()).describe("JSON pointers to what differs in the arguments, or in the result."),
      ...place,
    })
    .nullable()
    .describe("The first difference."),
  error: z.object({ code: z.string(), message: z.string(), ...place }).nullable(),
});
const Count = z.int();
const CheckRuns = z
  .object({
    checked: Count,
    same: Count,
    different: Count,
    failed: Count,
    unanswered: Count,
    data: z.array(CheckedRun).describe("Newest first."),
    next_cursor: z.string().nullable().describe("Null when no older run is left."),
  })
  .meta({ title: "CheckedRuns" });

const present = (row: RunRow, replay: Replay): z.infer<typeof CheckedRun> => ({
  run_id: row.id,
  workflow_id: row.workflow_id,
  status: row.status,
  definition_version: row.definition_version,
  outcome: replay.outcome,
  difference: "difference" in replay ? replay.difference : null,
  error: "error" in replay ? replay.error : null,
});

/** Throws 404 `definition_not_found`, and 400 `invalid_definition` for a tool. */
async function requireWorkflow(http: Http, caller: Caller, id: string): Promise<DefinitionRow> {
  const row = await requireDefinition(http, caller, id);
  if (row.type === "workflow") return row;
  throw new ApiError("invalid_definition", `${row.name} is a tool, and only workflows have runs.`, { param: "id" });
}

async function checkRuns(
  http: Http,
  request: FastifyRequest,
  id: string,
  body: Body,
  disconnected: AbortSignal,
): Promise<z.infer<typeof CheckRuns>> {
  const { caller } = request;
  const { organization_id } = caller;
  const after = readCursor(body.cursor);
  const definition = await requireWorkflow(http, caller, id);
  const { js, meta } = await checkScript(http, organization_id, "workflow", body.source);
  const script = { js, ordered: meta.workflow?.ordered ?? false };
  await http.waitUntilCurrent(["runs"]);
  const { workflow_id = null, status = null, limit } = body;
  const filter = { definition_id: definition.id, workflow_id, status };
  const rows = await listRunsOfDefinition(http.db, organization_id, filter, { after, limit: limit + 1 });
  const check = async (row: RunRow) => {
    const replay = await releaseAfter(request, (budget) =>
      http.replayer.replay(organization_id, script, () => readRecordedRun(http, row, budget)),
    );
    return replay ? [present(row, replay)] : [];
  };
  const { results: data, next } = await processInBatches(rows.slice(0, limit), check, disconnected);
  const count = (outcome: string) => data.filter((run) => run.outcome === outcome).length;
  return {
    checked: data.length,
    same: count("same"),
    different: count("different"),
    failed: count("failed"),
    unanswered: count("unanswered"),
    data,
    next_cursor: next < rows.length ? formatCursor(rows[next - 1]!) : null,
  };
}

/** Replays existing runs with a new version of their workflow, for builders and above (ADR 50). Saves nothing and executes nothing. */
export function checkRunsRoute(app: App, http: Http): void {
  const schema = {
    tags: ["Scripts"],
    security: [{ session: [] }],
    summary: "Check a source against stored runs",
    description:
      "Replays runs of the workflows of this definition with another source and their recorded answers, and says which would differ. " +
      "No step is executed, and nothing is recorded.",
    params: z.object({ id: z.string() }),
    body: Body,
    response: { 200: CheckRuns },
  };
  app.post(
    "/definitions/:id/check-runs",
    { onRequest: requireBuilder(http), schema, bodyLimit },
    async (request, reply) => {
      await request.acquireLongRead();
      return checkRuns(http, request, request.params.id, request.body, disconnectSignal(reply.raw));
    },
  );
}
