import { z } from "zod";
import { idempotencyKey, stepId } from "#events/ids.ts";
import { Actor } from "#events/run.ts";
import { RunAs } from "#events/workflow.ts";
import type { RunRow } from "#projections/runs/query.ts";
import { isLive, type RunView } from "./foldRun.ts";
import type { Step } from "./foldSteps.ts";
import type { OpenValue } from "./runValues.ts";

const time = z.iso.datetime();
export const RunStatus = z.enum(["pending", "running", "completed", "failed", "cancelled"]);

/** A run as lists show it. */
export const RunSummary = z.object({
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
    })
    .nullable(),
  completion: z.enum(["explicit", "implicit"]).nullable(),
  started_by: Actor.extend({ trigger_id: z.string().nullable() }),
  run_as: RunAs,
  external_user_id: z.string().nullable().describe("For attribution only: chosen by the caller that started the run."),
  created_at: time,
  started_at: time.nullable(),
  completed_at: time.nullable(),
  cancelled_by: Actor.nullable(),
  expires_at: time,
});

const RunStep = z.object({
  id: z.string(),
  name: z.string(),
  key: z.string(),
  batch: z.string().nullable(),
  index: z.int().nullable(),
  status: z.enum(["scheduled", "running", "retry_wait", "completed", "failed", "abandoned"]),
  attempts: z.array(
    z.object({
      n: z.int(),
      status: z.enum(["running", "completed", "failed", "lost"]),
      started_at: time,
      ended_at: time.nullable(),
      error: z.string().nullable(),
      logs: z.array(z.string()),
      logs_truncated: z.boolean(),
    }),
  ),
  args: z.unknown(),
  result: z.unknown(),
  omitted: z
    .array(z.enum(["args", "result"]))
    .optional()
    .describe("Fields left out because the values of all steps together are too long."),
  error: z.string().nullable(),
  idempotency_key: z.string(),
  scheduled_at: time,
  completed_at: time.nullable(),
});

const Waiting = z.discriminatedUnion("type", [
  z.object({ type: z.literal("approval"), id: z.string(), name: z.string(), since: time, expires_at: time }),
  z.object({
    type: z.literal("step"),
    id: z.string(),
    name: z.string(),
    attempt: z.int(),
    next_attempt_at: time.nullable(),
  }),
  z.object({ type: z.literal("timer"), until: time }),
]);

/** A run with all its details. */
export const Run = RunSummary.extend({
  cancel_reason: z.string().nullable().describe("Given by the one who cancelled it."),
  waiting_on: z.array(Waiting),
  args: z.unknown(),
  headers: z
    .record(z.string(), z.string())
    .describe("Headers of the request that started it, as its trigger names them."),
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
  counts: z.object({ steps: z.int(), attempts: z.int(), ticks: z.int() }),
});

const iso = (date: Date | null): string | null => date?.toISOString() ?? null;

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
  started_at: iso(row.started_at),
  completed_at: iso(row.completed_at),
  cancelled_by: row.cancelled_by,
  expires_at: row.expires_at.toISOString(),
});

/** The approvals, steps and timers that a live run waits for. */
export function waitingOn(run: RunView): z.infer<typeof Waiting>[] {
  if (!isLive(run)) return [];
  const open = [...run.steps.values()].filter(({ completed_at }) => completed_at === null);
  return [
    ...[...run.approvals.values()].map(({ id, name, since, expires_at }) => ({
      type: "approval" as const,
      id,
      name,
      since: since.toISOString(),
      expires_at: expires_at.toISOString(),
    })),
    ...open.map(({ id, name, attempts, next_attempt_at }) => ({
      type: "step" as const,
      id,
      name,
      attempt: attempts.length,
      next_attempt_at: iso(next_attempt_at),
    })),
    ...[...run.timers.values()].map((until) => ({ type: "timer" as const, until: until.toISOString() })),
  ];
}

/** Bytes of log lines that are stored of one attempt; further lines are dropped. */
const MAX_LOG_BYTES = 256 * 1024;
/** Bytes of long values in one answer, of all steps together. A thousand results of 1 MiB would exceed the memory of the process. */
const MAX_VALUE_BYTES = 16 * 1024 * 1024;

const byteLength = (logs: string[]): number => logs.reduce((sum, line) => sum + Buffer.byteLength(line), 0);

type ValueField = "args" | "result";

/** The fields of each step to leave out: long values are counted in order, and those beyond the limit are omitted. */
export function chooseOmitted(steps: Pick<Step, ValueField>[], limit = MAX_VALUE_BYTES): ValueField[][] {
  let left = limit;
  return steps.map((step) =>
    (["args", "result"] as const).filter((field) => {
      const value = step[field];
      if (!value || "json" in value) return false;
      left -= value.bytes;
      return left < 0;
    }),
  );
}

async function presentStep(
  run_id: string,
  step: Step,
  omitted: ValueField[],
  open: OpenValue,
): Promise<z.infer<typeof RunStep>> {
  return {
    id: step.id,
    name: step.name,
    key: step.key,
    batch: step.batch,
    index: step.index,
    status: step.status,
    attempts: step.attempts.map((attempt) => ({
      ...attempt,
      started_at: attempt.started_at.toISOString(),
      ended_at: iso(attempt.ended_at),
      logs_truncated: byteLength(attempt.logs) >= MAX_LOG_BYTES,
    })),
    args: omitted.includes("args") ? null : await open(step.args),
    result: omitted.includes("result") ? null : await open(step.result),
    ...(omitted.length > 0 && { omitted }),
    error: step.error,
    idempotency_key: idempotencyKey(run_id, step.key),
    scheduled_at: step.scheduled_at.toISOString(),
    completed_at: iso(step.completed_at),
  };
}

/** A run folded from its events. The row has what never changes. */
export async function presentRun(row: RunRow, run: RunView, open: OpenValue): Promise<z.infer<typeof Run>> {
  const folded = [...run.steps.values()];
  const omitted = chooseOmitted(folded);
  const steps: z.infer<typeof RunStep>[] = [];
  // one after the other, so that at most one sealed value is in memory next to the opened ones
  for (const [n, step] of folded.entries()) steps.push(await presentStep(row.id, step, omitted[n]!, open));
  const {
    status,
    error,
    error_info,
    completion,
    cancelled_by,
    warnings,
    logs,
    ticks,
    attempts,
    headers,
    cancel_reason,
  } = run;
  return {
    ...presentSummary(row),
    status,
    error,
    error_info,
    completion,
    cancelled_by,
    cancel_reason,
    started_at: iso(run.started_at),
    completed_at: iso(run.completed_at),
    waiting_on: waitingOn(run),
    args: await open(run.args),
    headers,
    result: await open(run.result),
    warnings,
    logs,
    steps,
    counts: { steps: steps.length, attempts, ticks },
  };
}
