import type { FastifyRequest } from "fastify";
import { z } from "zod";
import type { RecordedEvent } from "#events/envelope.ts";
import { deriveId, newId, stepId, streamName } from "#events/ids.ts";
import type { ParentRun } from "#events/runOrigin.ts";
import type { RunRow } from "#projections/runs/query.ts";
import type { WorkflowRow } from "#projections/workflows/query.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { refuseInexact } from "../base/exactNumbers.ts";
import { readIdempotencyKey } from "../base/idempotency.ts";
import { readStreamWithBudget, type ReadBudget } from "../base/readStreamWithBudget.ts";
import { actorFrom } from "./actor.ts";
import { checkCodeChange } from "./envelope.ts";
import { foldCalls, type RunCall } from "./foldCalls.ts";
import { foldRun, isLive, listRunningSteps, type RunView } from "./foldRun.ts";
import { inheritedByFork, isKept } from "./inheritedByFork.ts";
import { requireRun, requireVersion, requireWorkflow, runNotFound } from "./lookups.ts";
import {
  countOpenedBytes,
  createOpenJson,
  createOpenValue,
  openCalls,
  openInherited,
  type OpenJson,
} from "./runValues.ts";
import { startRun, type RunRequest } from "./startRun.ts";
import { MAX_VERSION } from "./workflowShape.ts";

/* Retries and forks are new runs that inherit the answers of an ended run, their parent (ADR 40). */

/** Maximum bytes of JSON of a result that a fork sets, the same as for a step. */
const MAX_RESULT_BYTES = 1024 * 1024;

export const ForkBody = z
  .object({
    step_id: z
      .string()
      .max(100)
      .describe("The step to continue from: it and all later calls are made again. Default: from where the run ended."),
    args: refuseInexact(z.record(z.string(), z.unknown())).describe("Arguments instead of those of the run."),
    result: refuseInexact(z.unknown()).describe("A result for the step `step_id`, which is then not executed."),
    definition_version: z
      .int()
      .min(1)
      .max(MAX_VERSION)
      .nullable()
      .describe("Another version of the definition; null: the newest."),
  })
  .partial();
type Fork = z.infer<typeof ForkBody>;

/** An ended run, opened so that a retry or a fork can inherit its answers. */
interface Parent {
  row: RunRow;
  view: RunView;
  workflow: WorkflowRow;
  /** In the order in which `run()` made them. */
  calls: RunCall[];
  args: Record<string, unknown>;
  /** Ids of all files that were given to the run. */
  files: string[];
  open: OpenJson;
}

const HANDS_FILES = new Set(["RunCreated", "ApprovalVoted", "ApprovalDecided", "ApprovalCommented"]);
const handedFiles = (events: readonly RecordedEvent[]): string[] => {
  const handing = events.filter(({ type }) => HANDS_FILES.has(type));
  return [...new Set(handing.flatMap(({ data }) => (data as { files?: string[] }).files ?? []))];
};

/** Throws 404 `run_not_found`, 409 `run_still_live`. */
async function openParent(
  http: Http,
  { caller }: Pick<FastifyRequest, "caller">,
  id: string,
  budget: ReadBudget,
): Promise<Parent> {
  const row = await requireRun(http, caller, id);
  const events = await readStreamWithBudget(http, budget, streamName("run", row.id));
  const view = await foldRun(events);
  if (isLive(view))
    throw new ApiError("run_still_live", `The run is ${view.status}; only a run that has ended can be continued.`);
  const running = listRunningSteps(view).length;
  if (running > 0)
    throw new ApiError(
      "run_still_live",
      `The run has ended, but ${running} of its steps still run; wait for their end.`,
    );
  const workflow = await requireWorkflow(http, caller, row.workflow_id);
  const openValue = createOpenValue(http, row);
  const args = (await openValue(view.args)) as Record<string, unknown> | null;
  if (!args) throw runNotFound();
  const inherited = await openInherited(view.inherited, countOpenedBytes(budget, openValue));
  const calls = await foldCalls(events, inherited);
  return { row, view, workflow, calls, args, files: handedFiles(events), open: createOpenJson(http, row) };
}

/** How a retry or a fork differs from its parent. */
interface RunFromParent extends Pick<ParentRun, "kind" | "step" | "effects_of"> {
  run_id: string;
  calls: RunCall[];
  args: Record<string, unknown>;
  definition_version: number;
  started_by: RunRequest["started_by"];
  /** Checks that apply only to a new run. */
  checkNew?: () => Promise<unknown>;
}

async function startFromParent(
  http: Http,
  request: FastifyRequest,
  { row, view, workflow, files, open }: Parent,
  { kind, step, effects_of, run_id, calls, args, definition_version, started_by, checkNew }: RunFromParent,
): Promise<string> {
  const { caller } = request;
  const created = view.created!;
  const { starter, trigger_set_by }: Partial<typeof created> = kind === "retry" ? created : {};
  const parent: ParentRun = {
    run_id: row.id,
    kind,
    step,
    by: actorFrom(caller),
    seen_as: created.parent?.seen_as ?? { run_id: row.id, created_at: created.created_at },
    effects_of,
    steps: calls.filter(({ kind: what }) => what === "step").length,
  };
  return startRun(
    http,
    { ...workflow, definition_id: row.definition_id, definition_version },
    {
      request,
      principal: caller.principal,
      path: `/runs/${row.id}/${kind}`,
      key: readIdempotencyKey(request.headers),
      body: request.bodyHash,
      headers: view.headers,
      readMore: async () => {
        await checkNew?.();
        return { files, priority: undefined };
      },
      args,
      started_by,
      trigger_set_by,
      trigger_id: row.trigger_id,
      run_as: row.run_as,
      external_user_id: view.external_user_id,
      inheritance: { parent, run_id, starter, calls: () => openCalls(calls, open) },
    },
  );
}

/** The id of the run that retries this one. Being derived, it allows one retry per run; a failed retry is retried itself. */
const retryId = (run_id: string): string => deriveId("retry", run_id);

/**
 * Retries a failed or cancelled run as a new run that inherits all its answers. A repeated call returns the same run. Throws 409
 * `run_still_live`, `run_completed`, `run_continued`, and the errors of a start.
 */
export async function retryRun(
  http: Http,
  request: FastifyRequest,
  id: string,
  budget: ReadBudget = request,
): Promise<string> {
  const parent = await openParent(http, request, id, budget);
  const { row, view, calls, args } = parent;
  if (view.status === "completed")
    throw new ApiError("run_completed", "The run is completed, so nothing is left to retry; fork it instead.");
  if (view.status === "continued")
    throw new ApiError(
      "run_continued",
      `The run ${view.continued_as} continues this one: retry that one if it failed.`,
    );
  return startFromParent(http, request, parent, {
    kind: "retry",
    run_id: retryId(row.id),
    step: view.error_info?.step ?? null,
    effects_of: view.created!.parent?.effects_of ?? row.id,
    calls: calls.filter(isKept),
    args,
    definition_version: row.definition_version,
    started_by: row.started_by,
    checkNew: () => requireVersion(http, request.caller, row.definition_id, row.definition_version),
  });
}

/** The position of a step in the parent's calls. Throws 400 `step_never_ran`. */
function findStep({ row, calls }: Parent, step_id: string): number {
  const at = calls.findIndex(({ key, hasRun }) => hasRun && stepId(row.id, key) === step_id.toLowerCase());
  if (at !== -1) return at;
  const message = "step_id: no step with this id has run in this run; GET /api/workflows/runs/{run_id} lists them.";
  throw new ApiError("step_never_ran", message, { param: "step_id" });
}

/** Throws 400 `invalid_result`. */
function encodeResult({ step_id, result }: Fork): string | undefined {
  if (result === undefined) return undefined;
  const refuse = (why: string) => new ApiError("invalid_result", `result: ${why}`, { param: "result" });
  if (step_id === undefined) throw refuse("is the result of a step, so step_id must name it.");
  const json = JSON.stringify(result);
  if (Buffer.byteLength(json) > MAX_RESULT_BYTES) throw refuse(`must have ${MAX_RESULT_BYTES} bytes at most.`);
  return json;
}

/** The answers that a fork inherits. */
function forkedCalls({ row, calls }: Parent, fork: Fork, at: number): RunCall[] {
  const result = encodeResult(fork);
  const { args, definition_version = row.definition_version } = fork;
  const isChanged = args !== undefined || result !== undefined || definition_version !== row.definition_version;
  return inheritedByFork(calls, at, { result, isChanged });
}

/**
 * Starts a new run that inherits the answers of an ended one up to one of its steps. Throws 409 `run_still_live`, 400 `step_never_ran`,
 * `unknown_version`, `invalid_result`, and the errors of a start.
 */
export async function forkRun(http: Http, request: FastifyRequest, id: string, fork: Fork): Promise<string> {
  const parent = await openParent(http, request, id, request);
  const { row, view, calls } = parent;
  const { step_id, definition_version: wanted = row.definition_version } = fork;
  const at = step_id === undefined ? calls.length : findStep(parent, step_id);
  const { version } = await requireVersion(http, request.caller, row.definition_id, wanted);
  if (version !== row.definition_version) checkCodeChange(request.caller, [row.run_as]);
  const run_id = newId();
  return startFromParent(http, request, parent, {
    kind: "fork",
    run_id,
    step: calls[at]?.name ?? view.error_info?.step ?? null,
    effects_of: run_id,
    calls: forkedCalls(parent, { ...fork, definition_version: version }, at),
    args: fork.args ?? parent.args,
    definition_version: version,
    started_by: actorFrom(request.caller),
  });
}
