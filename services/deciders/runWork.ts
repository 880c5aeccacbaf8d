import type { WorkStatus } from "#events/decider.ts";
import { approvalTimes } from "./openApprovals.ts";
import { hasOpenLinks } from "./runLinkState.ts";
import { isEnded, isLive, type LiveRun, type RunState } from "./runState.ts";

/* Which work a run has for a worker, and when. */

/** Whether a worker has something to do now, not counting waits. */
export const hasWork = (run: LiveRun): boolean =>
  run.woken || run.steps.some(({ status }) => status !== "waiting") || hasOpenLinks(run);

export const isRetryDue = ({ steps }: Pick<LiveRun, "steps">, now: number): boolean =>
  steps.some(({ retry_at }) => retry_at !== null && Date.parse(retry_at) <= now);

/** Whether only waiting is left although the run is marked as woken: the next tick records that it parks. */
export const shouldPark = ({ woken, steps }: LiveRun): boolean =>
  woken && steps.every(({ status }) => status === "waiting");

const earliest = (times: string[]): string =>
  times.reduce((least, time) => (Date.parse(time) < Date.parse(least) ? time : least));

/** The earliest due time of the run: of its timers, retries, approvals and waits, or its own expiry. */
export function nextDueTime({ expires_at, timers, approvals, steps, waits }: LiveRun): string {
  const times = [
    expires_at,
    ...Object.values(timers),
    ...Object.values(approvals).flatMap(approvalTimes),
    ...Object.values(waits).flatMap((wait) => wait.expires_at ?? []),
    ...steps.flatMap(({ retry_at }) => retry_at ?? []),
  ];
  return earliest(times);
}

/** When to check whether turns have ended. This needs no worker, so `nextDueTime` leaves it out. */
const nextLooks = ({ waits }: LiveRun): string[] => Object.values(waits).flatMap(({ look_at }) => look_at ?? []);

/** A run that only waits needs no worker (ADR 13). */
export function workStatus(state: RunState): WorkStatus {
  if (isLive(state)) {
    const due_at = nextDueTime(state);
    if (hasWork(state)) return { status: "running", due_at, worker: state.worker };
    return { status: "waiting", due_at: earliest([due_at, ...nextLooks(state)]), worker: null };
  }
  if (!isEnded(state)) return { status: null, due_at: null, worker: null };
  const { steps, settling, forget_at: due_at, worker } = state;
  if (steps.length > 0) return { status: "ending", due_at, worker };
  return { status: settling === null ? "waiting" : "ending", due_at, worker: null };
}
