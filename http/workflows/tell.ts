import { stepId } from "#events/ids.ts";
import { timeOf } from "#events/run.ts";
import type { RunHappened } from "./foldSteps.ts";
import type { OpenValue } from "./value.ts";

/** An event of a run's stream as those who follow it hear of it. */
export interface Told {
  event: string;
  data: Record<string, unknown>;
}

const of = (run_id: string, { key, name, attempt }: { key: string; name: string; attempt: number }) => ({
  step_id: stepId(run_id, key),
  step: name,
  attempt,
});

const lines = (about: Record<string, unknown>, logs: string[] | undefined): Told[] =>
  logs && logs.length > 0 ? [{ event: "step.log", data: { ...about, logs } }] : [];

/** What one event means to readers; none where it is of the inside only. A result of a step is told where it is short. */
async function meaning(happened: RunHappened, open: OpenValue): Promise<Told[]> {
  const { run_id } = happened.data;
  switch (happened.type) {
    case "RunCreated":
      return [{ event: "run.created", data: {} }];
    case "RunStarted":
      return [{ event: "run.started", data: {} }];
    case "RunWarned": {
      const { code, call, line } = happened.data;
      return [{ event: "run.warning", data: { code, message: happened.personal?.message ?? null, step: call, line } }];
    }
    case "RunLogged":
      return [{ event: "run.log", data: { logs: happened.personal?.logs ?? [] } }];
    case "RunCompleted": {
      const { completion } = happened.data;
      return [{ event: "run.completed", data: { completion, result: await open(happened.personal?.result) } }];
    }
    case "RunFailed": {
      const { code, step } = happened.data;
      return [{ event: "run.failed", data: { error: happened.personal?.error.message ?? null, code, step } }];
    }
    case "RunCancelled":
      return [{ event: "run.cancelled", data: { cancelled_by: happened.data.by } }];
    case "StepsScheduled":
      return happened.data.steps.map(({ key, name, batch, index }) => ({
        event: "step.scheduled",
        data: { step_id: stepId(run_id, key), step: name, batch, index },
      }));
    case "StepStarted":
      return [{ event: "step.started", data: of(run_id, happened.data) }];
    case "StepCompleted": {
      const about = of(run_id, happened.data);
      const result = happened.personal?.result;
      const shown = result && "json" in result ? { result: await open(result) } : {};
      return [
        ...lines(about, happened.personal?.logs),
        { event: "step.completed", data: { ...about, duration_ms: happened.data.duration_ms, ...shown } },
      ];
    }
    case "StepAttemptFailed":
    case "StepFailed": {
      const about = of(run_id, happened.data);
      const { code } = happened.data;
      const error = happened.personal?.error.message ?? null;
      const last: Told =
        happened.type === "StepFailed"
          ? { event: "step.failed", data: { ...about, code, error } }
          : { event: "step.retrying", data: { ...about, code, error, next_attempt_at: happened.data.retry_at } };
      return [...lines(about, happened.personal?.logs), last];
    }
    case "StepAttemptLost":
      return [{ event: "step.lost", data: of(run_id, happened.data) }];
    case "TimerStarted":
      return [{ event: "timer.started", data: { key: happened.data.key, until: happened.data.fires_at } }];
    case "TimerFired":
      return [{ event: "timer.fired", data: { key: happened.data.key } }];
    case "ApprovalRequested": {
      const { approval_id, expires_at } = happened.data;
      const { name = null, title = null } = happened.personal ?? {};
      return [{ event: "approval.requested", data: { approval_id, name, title, expires_at } }];
    }
    case "ApprovalDecided": {
      const { approval_id, decision, by } = happened.data;
      return [{ event: "approval.decided", data: { approval_id, decision, decided_by: by } }];
    }
    case "ApprovalExpired":
      return [{ event: "approval.expired", data: { approval_id: happened.data.approval_id } }];
    case "ApprovalCancelled": {
      const { approval_id, reason } = happened.data;
      return [{ event: "approval.cancelled", data: { approval_id, reason } }];
    }
    case "RunTaken":
    case "ValueNoted":
    case "RunParked":
    case "RunForgotten":
      return [];
  }
}

/**
 * The frames of one event, by SSE. Its version is the id of the last of them alone: who lost the connection before that gets
 * them all again.
 */
export async function framesOf(happened: RunHappened, open: OpenValue): Promise<string> {
  const told = await meaning(happened, open);
  const at = timeOf(happened).toISOString();
  return told
    .map(({ event, data }, n) => {
      const id = n === told.length - 1 ? `id: ${happened.version}\n` : "";
      return `${id}event: ${event}\ndata: ${JSON.stringify({ run_id: happened.data.run_id, at, ...data })}\n\n`;
    })
    .join("");
}
