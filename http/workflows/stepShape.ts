import { z } from "zod";
import { idempotencyKey, stepId } from "#events/ids.ts";
import type { InheritedCall } from "#events/inheritedCalls.ts";
import { createPause } from "#events/slices.ts";
import { toIso } from "../base/times.ts";
import type { RunView } from "./foldRun.ts";
import { errorInfo, type Step } from "./foldSteps.ts";
import { openInherited, type OpenValue } from "./runValues.ts";

const time = z.iso.datetime();

const ErrorInfo = z.object({
  code: z.string(),
  line: z.int().nullable().describe("Of the source, from 1."),
  column: z.int().nullable().describe("From 1."),
});

/** A step of a run, as its details show it. */
export const RunStep = z
  .object({
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
        error_info: ErrorInfo.nullable(),
        logs: z.array(z.string()),
        logs_truncated: z.boolean(),
      }),
    ),
    args: z.unknown(),
    result: z.unknown(),
    omitted: z
      .array(z.enum(["args", "result"]))
      .optional()
      .describe(
        "Fields left out because nobody asked for them, or because the values of all steps together are too long.",
      ),
    error: z.string().nullable(),
    error_info: ErrorInfo.nullable().describe("Of the last attempt, when the step has failed."),
    idempotency_key: z.string(),
    inherited: z.boolean().describe("The result is that of the parent run; this run did not execute the step."),
    scheduled_at: time,
    completed_at: time.nullable(),
  })
  .meta({ title: "RunStep" });

/** Maximum bytes of stored log lines per attempt; further lines are dropped. */
const MAX_LOG_BYTES = 256 * 1024;
/** Maximum bytes of values per answer, in total. A thousand results of 1 MiB would exceed the memory of the process. */
const MAX_VALUE_BYTES = 16 * 1024 * 1024;
/** Values up to this many UTF-16 units are always shown. */
const MAX_SHORT_VALUE = 1_024;
/** Maximum UTF-16 units of log lines per answer, in total. */
const MAX_SHOWN_LOGS = 8 * 1024 * 1024;

const byteLength = (logs: string[]): number => logs.reduce((sum, line) => sum + Buffer.byteLength(line), 0);

type ValueField = "args" | "result";

/** Chooses the fields to leave out of each step: long values are counted in order, and those beyond the limit are omitted. */
export function chooseOmitted(steps: Pick<Step, ValueField>[], limit = MAX_VALUE_BYTES): ValueField[][] {
  let left = limit;
  return steps.map((step) =>
    (["args", "result"] as const).filter((field) => {
      const value = step[field];
      if (!value || ("json" in value && value.json.length <= MAX_SHORT_VALUE)) return false;
      left -= "json" in value ? value.json.length : value.bytes;
      return left < 0;
    }),
  );
}

/** Presents an inherited step. Its attempts are in the parent run. */
function inheritedStep(run_id: string, { key, name, batch, index, args, answer, answered_at }: InheritedCall): Step {
  const at = new Date(answered_at ?? 0);
  return {
    id: stepId(run_id, key),
    key,
    name: name ?? "",
    batch,
    index,
    status: "error" in answer ? "failed" : "completed",
    attempts: [],
    args: args === null ? null : { json: args },
    result: "error" in answer ? null : answer,
    error: "error" in answer ? answer.error.message : null,
    error_info: "error" in answer ? errorInfo(answer.error.code, undefined) : null,
    scheduled_at: at,
    next_attempt_at: null,
    completed_at: at,
  };
}

type ShowLogs = (logs: string[]) => { logs: string[]; logs_truncated: boolean };

/** Returns the lines of each attempt, until the total limit is reached. */
export function createLogLimiter(limit = MAX_SHOWN_LOGS): ShowLogs {
  let left = limit;
  return (logs) => {
    const shown = logs.filter(({ length }) => (left -= length) >= 0);
    return { logs: shown, logs_truncated: shown.length < logs.length || byteLength(logs) >= MAX_LOG_BYTES };
  };
}

async function presentStep(
  { effects_of, isInherited, showLogs }: { effects_of: string; isInherited: boolean; showLogs: ShowLogs },
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
      ended_at: toIso(attempt.ended_at),
      ...showLogs(attempt.logs),
    })),
    args: omitted.includes("args") ? null : await open(step.args),
    result: omitted.includes("result") ? null : await open(step.result),
    ...(omitted.length > 0 && { omitted }),
    error: step.error,
    error_info: step.error_info,
    idempotency_key: idempotencyKey(effects_of, step.key),
    inherited: isInherited,
    scheduled_at: step.scheduled_at.toISOString(),
    completed_at: toIso(step.completed_at),
  };
}

/** A step, and whether the run inherited it. */
interface RecordedStep {
  step: Step;
  isInherited: boolean;
}

/** The steps that a run inherited, and its own. */
export async function stepsOf(run: RunView, { id }: { id: string }, open: OpenValue): Promise<RecordedStep[]> {
  const calls = await openInherited(run.inherited, open);
  const inherited = calls.filter(({ kind }) => kind === "step").map((call) => inheritedStep(id, call));
  return [
    ...inherited.map((step) => ({ step, isInherited: true })),
    ...[...run.steps.values()].map((step) => ({ step, isInherited: false })),
  ];
}

const closed: OpenValue = async () => null;
const valuesIn = (step: Step): ValueField[] => (["args", "result"] as const).filter((field) => step[field]);

/** Presents steps of a run; without `open`, their values are left out. */
export async function presentSteps(
  recorded: readonly RecordedStep[],
  { created }: Pick<RunView, "created">,
  { id: run_id }: { id: string },
  open?: OpenValue,
) {
  const omitted = open ? chooseOmitted(recorded.map(({ step }) => step)) : recorded.map(({ step }) => valuesIn(step));
  const effects_of = created?.parent?.effects_of ?? run_id;
  const steps: z.infer<typeof RunStep>[] = [];
  const showLogs = createLogLimiter();
  const pause = createPause();
  // one after the other, so that at most one sealed value is in memory next to the opened ones
  for (const [n, { step, isInherited }] of recorded.entries()) {
    steps.push(await presentStep({ effects_of, isInherited, showLogs }, step, omitted[n]!, open ?? closed));
    // opening a value outside the blobs waits for nothing, so a long list would block other requests
    await pause();
  }
  return steps;
}
