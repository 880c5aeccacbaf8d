import { stepId } from "#events/ids.ts";
import { eventTime } from "#events/run.ts";
import type { RecordedRunEvent, RunEventType } from "./foldSteps.ts";
import type { OpenValue } from "./runValues.ts";

/** A message to a client that follows a run. */
interface RunMessage {
  event: string;
  data: Record<string, unknown>;
}

interface StepAttemptData {
  run_id: string;
  key: string;
  name: string;
  attempt: number;
}
const describeAttempt = ({ run_id, key, name, attempt }: StepAttemptData) => ({
  step_id: stepId(run_id, key),
  step: name,
  attempt,
});

/** The logs of an attempt, if any, followed by its end. */
const attemptMessages = (
  data: StepAttemptData,
  logs: string[] = [],
  end: { event: string; data: Record<string, unknown> },
): RunMessage[] => {
  const about = describeAttempt(data);
  const log = { event: "step.log", data: { ...about, logs } };
  return [...(logs.length > 0 ? [log] : []), { event: end.event, data: { ...about, ...end.data } }];
};

const one = (event: string, data: Record<string, unknown> = {}): RunMessage[] => [{ event, data }];
const none = (): RunMessage[] => [];

type Describe<T extends RunEventType> = (
  event: RecordedRunEvent<T>,
  open: OpenValue,
) => RunMessage[] | Promise<RunMessage[]>;

/** The messages for each type of event; none for internal ones. */
const MESSAGES: { [T in RunEventType]: Describe<T> } = {
  RunCreated: () => one("run.created"),
  RunStarted: () => one("run.started"),
  RunWarned: ({ data: { code, call, line }, personal }) =>
    one("run.warning", { code, message: personal?.message ?? null, step: call, line }),
  RunLogged: ({ personal }) => one("run.log", { logs: personal?.logs ?? [] }),
  RunCompleted: async ({ data: { completion }, personal }, open) =>
    one("run.completed", { completion, result: await open(personal?.result) }),
  RunFailed: ({ data: { code, step }, personal }) =>
    one("run.failed", { error: personal?.error.message ?? null, code, step }),
  RunCancelled: ({ data }) => one("run.cancelled", { cancelled_by: data.by }),
  RunContinued: ({ data: { continued_as } }) => one("run.continued", { continued_as }),
  StepsScheduled: ({ data: { run_id, steps } }) =>
    steps.map(({ key, name, batch, index }) => ({
      event: "step.scheduled",
      data: { step_id: stepId(run_id, key), step: name, batch, index },
    })),
  StepStarted: ({ data }) => one("step.started", describeAttempt(data)),
  async StepCompleted({ data, personal }, open) {
    // only a short result: long ones would make the stream too large, and can be read with the run
    const result = personal?.result && "json" in personal.result ? { result: await open(personal.result) } : {};
    const end = { event: "step.completed", data: { duration_ms: data.duration_ms, ...result } };
    return attemptMessages(data, personal?.logs, end);
  },
  StepAttemptFailed({ data, personal }) {
    const failure = { code: data.code, error: personal?.error.message ?? null, next_attempt_at: data.retry_at };
    return attemptMessages(data, personal?.logs, { event: "step.retrying", data: failure });
  },
  StepFailed({ data, personal }) {
    const failure = { code: data.code, error: personal?.error.message ?? null };
    return attemptMessages(data, personal?.logs, { event: "step.failed", data: failure });
  },
  StepAttemptLost: ({ data }) => one("step.lost", describeAttempt(data)),
  TimerStarted: ({ data }) => one("timer.started", { key: data.key, until: data.fires_at }),
  TimerFired: ({ data }) => one("timer.fired", { key: data.key }),
  ApprovalRequested({ data: { approval_id, expires_at }, personal }) {
    const { name = null, title = null } = personal ?? {};
    return one("approval.requested", { approval_id, name, title, expires_at });
  },
  ApprovalVoted: ({ data: { approval_id, decision, by, in_place_of } }) =>
    one("approval.voted", { approval_id, decision, voted_by: by, ...(in_place_of && { in_place_of }) }),
  ApprovalLinkCreated: ({ data: { approval_id, link_id, created_by, expires_at } }) =>
    one("approval.link_created", { approval_id, link_id, created_by, expires_at }),
  ApprovalLinkRevoked: ({ data: { approval_id, link_id, by } }) =>
    one("approval.link_revoked", { approval_id, link_id, revoked_by: by }),
  ApprovalDelegated: ({ data: { approval_id, by, to }, personal }) =>
    one("approval.delegated", { approval_id, delegated_by: by, to, reason: personal?.reason ?? null }),
  ApprovalCommented: ({ data: { approval_id, comment_id, by }, personal }) =>
    one("approval.commented", { approval_id, comment_id, by, text: personal?.text ?? null }),
  ApprovalDecided: ({ data: { approval_id, decision, by, in_place_of } }) =>
    one("approval.decided", { approval_id, decision, decided_by: by, ...(in_place_of && { in_place_of }) }),
  ApprovalReminded: ({ data: { approval_id } }) => one("approval.reminded", { approval_id }),
  ApprovalEscalated: ({ data: { approval_id } }) => one("approval.escalated", { approval_id }),
  ApprovalExpired: ({ data: { approval_id } }) => one("approval.expired", { approval_id }),
  ApprovalCancelled: ({ data: { approval_id, reason } }) => one("approval.cancelled", { approval_id, reason }),
  ChildRunRequested: none,
  ChildRunStarted: ({ data: { key, child_run_id } }) => one("child_run.started", { key, child_run_id }),
  RunWaitStarted: ({ data: { key, awaited_run_id, expires_at } }) =>
    one("wait.started", { key, awaited_run_id, until: expires_at }),
  MessageWaitStarted: ({ data: { key, expires_at }, personal }) =>
    one("wait.started", { key, event: personal?.name ?? null, until: expires_at }),
  AgentTurnRequested: none,
  AgentTurnStarted: ({ data: { key, agent_id, turn_id, thread_id } }) =>
    one("agent.started", { key, agent_id, response_id: `resp_${turn_id}`, thread_id }),
  AgentTurnPending: none,
  WaitAnswered: ({ data: { key } }) => one("wait.answered", { key }),
  WaitTimedOut: ({ data: { key } }) => one("wait.timed_out", { key }),
  RunWaitRegistered: none,
  RunWatched: none,
  RunSettled: none,
  RunTaken: none,
  ValueNoted: none,
  RunParked: none,
  RunKept: none,
  RunForgotten: none,
};

/**
 * The SSE frames of one event. Only the last frame has an id, the event's version, so a client that disconnects before it gets
 * all of them again.
 */
export async function formatFrames(event: RecordedRunEvent, open: OpenValue): Promise<string> {
  const messages = await (MESSAGES[event.type] as Describe<RunEventType>)(event, open);
  const at = eventTime(event).toISOString();
  return messages
    .map((message, n) => {
      const id = n === messages.length - 1 ? `id: ${event.version}\n` : "";
      const data = { run_id: event.data.run_id, at, ...message.data };
      return `${id}event: ${message.event}\ndata: ${JSON.stringify(data)}\n\n`;
    })
    .join("");
}
