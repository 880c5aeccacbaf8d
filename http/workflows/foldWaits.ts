import type { Actor } from "#events/runOrigin.ts";
import { toDate } from "../base/times.ts";
import type { RecordedRunEvent, RunEventType } from "./foldSteps.ts";

/** What ended a wait. `run_ended`: the run ended first. */
export const WAIT_OUTCOMES = [
  "approved",
  "rejected",
  "expired",
  "cancelled",
  "fired",
  "answered",
  "timed_out",
  "run_ended",
] as const;
type Outcome = (typeof WAIT_OUTCOMES)[number];

/** Something that `run()` waits for without a worker: an approval, a timer, another run, an event, or an agent's turn. */
export interface WaitView {
  type: "approval" | "timer" | "run" | "event" | "agent";
  key: string;
  /** The name of the approval, event or agent; null for other waits. */
  name: string | null;
  approval_id: string | null;
  run_id: string | null;
  since: Date;
  /** Null: until the run ends. */
  until: Date | null;
  ended_at: Date | null;
  outcome: Outcome | null;
  /** Who decided the approval. */
  decided_by: Actor | null;
  /** The event that ended the wait. */
  event_id: string | null;
  /** The turn of the agent, and its thread. */
  agent_id: string | null;
  turn_id: string | null;
  thread_id: string | null;
  reminded_at: Date | null;
  escalated_at: Date | null;
  /** Links to the approval that were created. */
  links: number;
}

/** By call key, in the order in which they began. */
export type WaitsView = Map<string, WaitView>;

type NewWait = Pick<WaitView, "type" | "key" | "since" | "until"> & Partial<WaitView>;

function begin(waits: WaitsView, wait: NewWait): void {
  waits.set(wait.key, {
    name: null,
    approval_id: null,
    run_id: null,
    ended_at: null,
    outcome: null,
    decided_by: null,
    event_id: null,
    agent_id: null,
    turn_id: null,
    thread_id: null,
    reminded_at: null,
    escalated_at: null,
    links: 0,
    ...wait,
  });
}

interface EndEvent {
  data: { key: string };
  recorded_at: Date;
}

/** Links name only the approval, so it is searched for. A run has few open approvals. */
const findApproval = (waits: WaitsView, id: string): WaitView | undefined =>
  waits.values().find(({ approval_id }) => approval_id === id);

function end(waits: WaitsView, { data, recorded_at }: EndEvent, outcome: Outcome, more: Partial<WaitView> = {}): void {
  const wait = waits.get(data.key);
  if (wait) Object.assign(wait, { ended_at: recorded_at, outcome, ...more });
}

/** The waits that have not ended. */
export const openWaits = (waits: WaitsView): WaitView[] => [...waits.values()].filter(({ ended_at }) => !ended_at);

/** At the end of the run. */
export function endWaits(waits: WaitsView, at: Date): void {
  for (const wait of openWaits(waits)) Object.assign(wait, { ended_at: at, outcome: "run_ended" });
}

function beginWait(waits: WaitsView, event: RecordedRunEvent<RunEventType>): void {
  const since = event.recorded_at;
  switch (event.type) {
    case "ApprovalRequested": {
      const { key, approval_id, expires_at } = event.data;
      const name = event.personal?.name ?? "";
      return begin(waits, { type: "approval", key, approval_id, name, since, until: new Date(expires_at) });
    }
    case "TimerStarted":
      return begin(waits, { type: "timer", key: event.data.key, since, until: new Date(event.data.fires_at) });
    case "RunWaitStarted": {
      const { key, awaited_run_id: run_id, expires_at } = event.data;
      return begin(waits, { type: "run", key, run_id, since, until: toDate(expires_at) });
    }
    case "MessageWaitStarted": {
      const { key, expires_at } = event.data;
      const name = event.personal?.name ?? null;
      return begin(waits, { type: "event", key, name, since, until: toDate(expires_at) });
    }
    case "AgentTurnRequested": {
      const { key, turn_id, thread_id } = event.data;
      const name = event.personal?.agent ?? null;
      return begin(waits, { type: "agent", key, name, turn_id, thread_id, since, until: null });
    }
    default:
  }
}

function changeApproval(waits: WaitsView, event: RecordedRunEvent<RunEventType>): void {
  switch (event.type) {
    case "ApprovalReminded":
    case "ApprovalEscalated": {
      const wait = waits.get(event.data.key);
      const field = event.type === "ApprovalReminded" ? "reminded_at" : "escalated_at";
      if (wait) wait[field] = event.recorded_at;
      return;
    }
    case "ApprovalLinkCreated": {
      const wait = findApproval(waits, event.data.approval_id);
      if (wait) wait.links += 1;
      return;
    }
    case "ApprovalDecided": {
      const { decision, by } = event.data;
      return end(waits, event, decision === "approve" ? "approved" : "rejected", { decided_by: by });
    }
    case "ApprovalExpired":
      return end(waits, event, "expired");
    case "ApprovalCancelled":
      return end(waits, event, event.data.reason === "run_ended" ? "run_ended" : "cancelled");
    default:
  }
}

/** How each type of event changes the waits. */
export function applyToWaits(waits: WaitsView, event: RecordedRunEvent<RunEventType>): void {
  switch (event.type) {
    case "TimerFired":
      return end(waits, event, "fired");
    case "WaitAnswered":
      return end(waits, event, "answered", { event_id: event.data.message_id ?? null });
    case "AgentTurnStarted": {
      const wait = waits.get(event.data.key);
      if (wait) wait.agent_id = event.data.agent_id;
      return;
    }
    case "WaitTimedOut":
      return end(waits, event, "timed_out");
    default:
      beginWait(waits, event);
      changeApproval(waits, event);
  }
}
