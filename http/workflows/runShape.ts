import { z } from "zod";
import { idempotencyKey, stepId } from "#events/ids.ts";
import { Actor } from "#events/run.ts";
import { RunAs } from "#events/workflow.ts";
import type { RunRow } from "#projections/runs/query.ts";
import { isLive, type RunCourse } from "./fold.ts";
import type { Step } from "./foldSteps.ts";
import type { OpenValue } from "./value.ts";

const time = z.iso.datetime();
export const RunStatus = z.enum(["pending", "running", "completed", "failed", "cancelled"]);

/** A run as a history lists it. */
export const Listed = z.object({
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
      attempt: z.int().nullable().optional().describe("Told of a single run only."),
    })
    .nullable(),
  completion: z.enum(["explicit", "implicit"]).nullable(),
  started_by: Actor.extend({ trigger_id: z.string().nullable() }),
  run_as: RunAs,
  external_user_id: z.string().nullable().describe("Attribution only: whoever started the run has written it."),
  created_at: time,
  started_at: time.nullable(),
  completed_at: time.nullable(),
  cancelled_by: Actor.nullable(),
  expires_at: time,
});

const ShownStep = z.object({
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
    .describe("Values left out here because all together are too long."),
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

/** A run with everything that it holds. */
export const Run = Listed.extend({
  waiting_on: z.array(Waiting),
  args: z.unknown(),
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
  logs: z.array(z.object({ tick: z.int(), text: z.string() })).describe("What run() itself has written."),
  steps: z.array(ShownStep),
  counts: z.object({ steps: z.int(), attempts: z.int(), ticks: z.int() }),
});

const iso = (date: Date | null): string | null => date?.toISOString() ?? null;

export const presentListed = (row: RunRow): z.infer<typeof Listed> => ({
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

/** What a live run waits for. */
export function waitingOn(course: RunCourse): z.infer<typeof Waiting>[] {
  if (!isLive(course)) return [];
  const open = [...course.steps.values()].filter(({ completed_at }) => completed_at === null);
  return [
    ...[...course.approvals.values()].map(({ id, name, since, expires_at }) => ({
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
    ...[...course.timers.values()].map((until) => ({ type: "timer" as const, until: until.toISOString() })),
  ];
}

/** As much as is kept of an attempt's lines; whoever writes more is cut off there. */
const MAX_LOGS = 256 * 1024;
/** Bytes of long values that one answer shows of all steps together: a thousand results of 1 MiB would end the process. */
const MAX_SHOWN = 16 * 1024 * 1024;

const bytesIn = (logs: string[]): number => logs.reduce((sum, line) => sum + Buffer.byteLength(line), 0);

async function presentStep(
  run_id: string,
  step: Step,
  open: OpenValue,
  room: { left: number },
): Promise<z.infer<typeof ShownStep>> {
  const omitted = (["args", "result"] as const).filter((field) => {
    const value = step[field];
    if (!value || "json" in value) return false;
    room.left -= value.bytes;
    return room.left < 0;
  });
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
      logs_truncated: bytesIn(attempt.logs) >= MAX_LOGS,
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

/** The record of a run as its events tell of it; the row gives what never changes. */
export async function presentRun(row: RunRow, course: RunCourse, open: OpenValue): Promise<z.infer<typeof Run>> {
  const room = { left: MAX_SHOWN };
  const steps: z.infer<typeof ShownStep>[] = [];
  // one after the other: what is opened of a long run must not all be held twice
  for (const step of course.steps.values()) steps.push(await presentStep(row.id, step, open, room));
  const { status, error, error_info, completion, cancelled_by, warnings, logs, ticks, attempts } = course;
  return {
    ...presentListed(row),
    status,
    error,
    error_info,
    completion,
    cancelled_by,
    started_at: iso(course.started_at),
    completed_at: iso(course.completed_at),
    waiting_on: waitingOn(course),
    args: await open(course.args),
    result: await open(course.result),
    warnings,
    logs,
    steps,
    counts: { steps: steps.length, attempts, ticks },
  };
}
