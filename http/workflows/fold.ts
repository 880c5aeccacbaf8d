import type { Recorded } from "#events/envelope.ts";
import { stepId } from "#events/ids.ts";
import { timeOf, type Actor, type RunEvent } from "#events/run.ts";
import type { Value } from "#events/runParts.ts";
import { abandon, attempted, schedule, type Of, type RunHappened, type Step, type Steps } from "./foldSteps.ts";

export interface Warning {
  code: string;
  message: string;
  step: string | null;
  line: number | null;
  tick: number;
}

/** Everything that the events of a run tell of it; values are not opened. */
export interface RunCourse {
  status: "pending" | "running" | "completed" | "failed" | "cancelled";
  /** Version of the stream after the events. */
  version: number;
  /** What it was started with; undefined before its first event. */
  created: Of<"RunCreated">["data"] | undefined;
  args: Value | null;
  external_user_id: string | null;
  steps: Steps;
  approvals: Map<string, { id: string; name: string; since: Date; expires_at: Date }>;
  timers: Map<string, Date>;
  warnings: Warning[];
  /** What `run()` wrote, and in which tick first. */
  logs: { tick: number; text: string }[];
  ticks: number;
  attempts: number;
  result: Value | null;
  completion: "explicit" | "implicit" | null;
  error: string | null;
  error_info: { code: string; step_id: string | null; step: string | null; attempt: number | null } | null;
  cancelled_by: Actor | null;
  started_at: Date | null;
  completed_at: Date | null;
}

const begin = (): RunCourse => ({
  status: "pending",
  version: 0,
  created: undefined,
  args: null,
  external_user_id: null,
  steps: new Map(),
  approvals: new Map(),
  timers: new Map(),
  warnings: [],
  logs: [],
  ticks: 0,
  attempts: 0,
  result: null,
  completion: null,
  error: null,
  error_info: null,
  cancelled_by: null,
  started_at: null,
  completed_at: null,
});

/** Events that a tick comes to; those of one tick are of one command. */
const OF_TICKS = new Set<RunEvent["type"]>([
  "RunStarted",
  "StepsScheduled",
  "TimerStarted",
  "ApprovalRequested",
  "ValueNoted",
  "RunWarned",
  "RunLogged",
  "RunParked",
  "RunCompleted",
]);

/** What may stand between the events of one tick. */
const WITHIN_TICKS = new Set<RunEvent["type"]>(["StepStarted", "ApprovalCancelled"]);

export const isLive = ({ status }: Pick<RunCourse, "status">): boolean => status === "pending" || status === "running";

function end(course: RunCourse, status: RunCourse["status"], at: Date): void {
  course.status = status;
  course.completed_at = at;
  course.approvals.clear();
  course.timers.clear();
  abandon(course.steps);
}

function fail(course: RunCourse, { data, personal, recorded_at }: Of<"RunFailed">): void {
  const { run_id, code, key, step } = data;
  const failed = key === null ? undefined : course.steps.get(key);
  course.error = personal?.error.message ?? null;
  course.error_info = {
    code,
    step_id: step === null || key === null ? null : stepId(run_id, key),
    step,
    attempt: failed?.attempts.at(-1)?.n ?? null,
  };
  end(course, "failed", recorded_at);
}

function apply(course: RunCourse, event: RunHappened): void {
  const { recorded_at } = event;
  switch (event.type) {
    case "RunCreated":
      course.created = event.data;
      course.args = event.personal?.args ?? null;
      course.external_user_id = event.personal?.external_user_id ?? null;
      return;
    case "RunStarted":
      course.status = "running";
      course.started_at = timeOf(event);
      return;
    case "StepsScheduled":
      return schedule(course.steps, event);
    case "StepStarted":
      course.attempts += 1;
      return attempted(course.steps, event, !isLive(course));
    case "StepCompleted":
    case "StepAttemptFailed":
    case "StepAttemptLost":
    case "StepFailed":
      return attempted(course.steps, event, !isLive(course));
    case "TimerStarted":
      return void course.timers.set(event.data.key, new Date(event.data.fires_at));
    case "TimerFired":
      return void course.timers.delete(event.data.key);
    case "ApprovalRequested": {
      const { approval_id: id, expires_at } = event.data;
      const name = event.personal?.name ?? "";
      return void course.approvals.set(id, { id, name, since: recorded_at, expires_at: new Date(expires_at) });
    }
    case "ApprovalDecided":
    case "ApprovalExpired":
    case "ApprovalCancelled":
      return void course.approvals.delete(event.data.approval_id);
    case "RunWarned": {
      const { code, call, line } = event.data;
      const message = event.personal?.message ?? "";
      return void course.warnings.push({ code, message, step: call, line, tick: course.ticks });
    }
    case "RunLogged":
      for (const text of event.personal?.logs ?? []) course.logs.push({ tick: course.ticks, text });
      return;
    case "RunCompleted":
      course.result = event.personal?.result ?? null;
      course.completion = event.data.completion;
      return end(course, "completed", recorded_at);
    case "RunFailed":
      return fail(course, event);
    case "RunCancelled":
      course.cancelled_by = event.data.by;
      return end(course, "cancelled", recorded_at);
    case "RunTaken":
    case "ValueNoted":
    case "RunParked":
    case "RunForgotten":
      return;
  }
}

/** A run as its events tell of it: pure, and linear in their number. */
export function foldRun(events: readonly Recorded[]): RunCourse {
  const course = begin();
  /** The command whose tick is being told. */
  let ticking: string | undefined;
  for (const event of events as readonly RunHappened[]) {
    course.version = event.version;
    if (OF_TICKS.has(event.type)) {
      if (event.command_id !== ticking) course.ticks += 1;
      ticking = event.command_id;
    } else if (!WITHIN_TICKS.has(event.type)) ticking = undefined;
    apply(course, event);
  }
  return course;
}

/** Steps that a run which is over has left running: they end on their own. */
export const stillRunning = ({ steps }: RunCourse): Step[] =>
  [...steps.values()].filter(({ status }) => status === "running");
