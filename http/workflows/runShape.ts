import { z } from "zod";
import { stepId } from "#events/ids.ts";
import { Actor } from "#events/runOrigin.ts";
import { Priority, RunAs } from "#events/workflow.ts";
import type { RunRow } from "#projections/runs/query.ts";
import { toIso } from "../base/times.ts";
import type { RunView } from "./foldRun.ts";
import type { OpenValue } from "./runValues.ts";
import { presentSteps, RunStep, stepsOf } from "./stepShape.ts";
import { presentWaits, RunWait, OpenWait, presentOpenWaits } from "./waitShape.ts";

const time = z.iso.datetime();
export const RunStatus = z.enum(["pending", "running", "completed", "failed", "cancelled", "continued"]);

/** A run as lists show it. */
export const RunSummary = z
  .object({
    id: z.string(),
    workflow_id: z.string(),
    workflow_name: z.string().nullable(),
    definition_id: z.string(),
    definition_version: z.int(),
    project_id: z.string().nullable(),
    status: RunStatus,
    error: z.string().nullable(),
    error_info: z
      .object({
        code: z.string(),
        step_id: z.string().nullable(),
        step: z.string().nullable(),
        attempt: z.int().nullable().optional().describe("Not in lists."),
        line: z.int().nullable().optional().describe("Of the source, from 1. Not in lists."),
        column: z.int().nullable().optional().describe("From 1. Not in lists."),
      })
      .nullable(),
    completion: z.enum(["explicit", "implicit"]).nullable(),
    started_by: Actor.extend({ trigger_id: z.string().nullable() }),
    run_as: RunAs,
    external_user_id: z
      .string()
      .nullable()
      .describe("For attribution only: chosen by the caller that started the run."),
    created_at: time,
    started_at: time.nullable(),
    completed_at: time.nullable(),
    cancelled_by: Actor.nullable(),
    expires_at: time,
    parent: z
      .object({
        run_id: z.string(),
        kind: z.enum(["retry", "fork", "continued"]),
        step: z.string().nullable().describe("The name of the step from which it continues."),
      })
      .nullable()
      .describe("The run that this one retries, forks or continues."),
    continued_from: z
      .object({
        run_id: z.string(),
        first_run_id: z.string().describe("The first run of the chain."),
        nth: z.int().describe("2 for the second run of the chain."),
      })
      .nullable()
      .describe("The run that called continueAs(), which this one continues."),
    continued_as: z.string().nullable().describe("The run that continues this one."),
    pending_approvals: z.int().describe("Approvals that it waits for."),
  })
  .meta({ title: "RunSummary" });

/** A run with all its details. */
export const Run = RunSummary.extend({
  priority: Priority,
  cancel_reason: z.string().nullable().describe("The reason that was sent with the cancellation."),
  waiting_on: z.array(OpenWait),
  waits: z
    .array(RunWait)
    .describe(
      "Everything that `run()` has waited for without a worker, in order: the newest thousand. Waits of the parent run are not included.",
    ),
  args: z.unknown(),
  headers: z
    .record(z.string(), z.string())
    .describe("Headers of the request that started it: those that its trigger names."),
  result: z.unknown(),
  warnings: z.array(
    z.object({
      code: z.string(),
      message: z.string(),
      step: z.string().nullable(),
      line: z.int().nullable(),
      tick: z.int(),
    }),
  ),
  logs: z.array(z.object({ tick: z.int(), text: z.string() })).describe("Lines that run() itself logged."),
  steps: z.array(RunStep),
  child_runs: z
    .array(
      z.object({
        run_id: z.string(),
        workflow: z.string().nullable().describe("The id or name that run() gave."),
        on_parent_end: z.enum(["cancel", "leave"]),
        started: z.boolean().describe("False until it has started, and if its start was refused."),
      }),
    )
    .describe("Runs that run() started, in order."),
  counts: z.object({ steps: z.int(), attempts: z.int(), ticks: z.int() }),
}).meta({ title: "Run" });

export const presentSummary = (row: RunRow): z.infer<typeof RunSummary> => ({
  id: row.id,
  workflow_id: row.workflow_id,
  workflow_name: row.workflow_name,
  definition_id: row.definition_id,
  definition_version: row.definition_version,
  project_id: row.project_id,
  status: row.status,
  error: row.error?.message ?? null,
  error_info: row.error && {
    code: row.error.code,
    step_id: row.error.step === null || row.error.key === null ? null : stepId(row.id, row.error.key),
    step: row.error.step,
  },
  completion: row.completion,
  started_by: { ...row.started_by, trigger_id: row.trigger_id },
  run_as: row.run_as,
  external_user_id: row.external_user_id,
  created_at: row.created_at.toISOString(),
  started_at: toIso(row.started_at),
  completed_at: toIso(row.completed_at),
  cancelled_by: row.cancelled_by,
  expires_at: row.expires_at.toISOString(),
  parent: row.parent_id === null ? null : { run_id: row.parent_id, kind: row.parent_kind!, step: row.parent_step },
  continued_from:
    row.chain_nth === null ? null : { run_id: row.parent_id!, first_run_id: row.first_run_id!, nth: row.chain_nth },
  continued_as: row.continued_as,
  pending_approvals: row.pending_approvals,
});

/** Presents a run folded from its events. The row provides the fields that never change. */
export async function presentRun(
  row: RunRow,
  run: RunView,
  open: OpenValue,
  show: "values" | "steps" | "counts" = "values",
): Promise<z.infer<typeof Run>> {
  const recorded = await stepsOf(run, row, open);
  const shown = show === "counts" ? [] : recorded;
  const steps = await presentSteps(shown, run, row, show === "values" ? open : undefined);
  return {
    ...presentSummary(row),
    status: run.status,
    error: run.error,
    error_info: run.error_info,
    completion: run.completion,
    cancelled_by: run.cancelled_by,
    priority: run.created?.priority ?? "normal",
    cancel_reason: run.cancel_reason,
    continued_as: run.continued_as,
    started_at: toIso(run.started_at),
    completed_at: toIso(run.completed_at),
    waiting_on: presentOpenWaits(run),
    waits: presentWaits(
      run,
      recorded.map(({ step }) => step.scheduled_at),
    ),
    args: await open(run.args),
    headers: run.headers,
    result: await open(run.result),
    warnings: run.warnings,
    logs: run.logs,
    child_runs: [...run.children.values()].map(({ run_id, workflow, on_parent_end, isStarted }) => ({
      run_id,
      workflow,
      on_parent_end,
      started: isStarted,
    })),
    steps,
    counts: { steps: recorded.length, attempts: run.attempts, ticks: run.ticks },
  };
}
