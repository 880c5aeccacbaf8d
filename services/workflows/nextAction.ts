import type { StepEntry } from "#events/runParts.ts";
import { hasOpenLinks } from "../deciders/runLinkState.ts";
import { isLive, type RunState } from "../deciders/runState.ts";
import { hasWork, isRetryDue, nextDueTime, shouldPark } from "../deciders/runWork.ts";

/** A run parks when its next timer is further away than this. Otherwise its worker waits for it. */
const REST_AFTER_MS = 60_000;
/** The same while other runs of its organization wait for its memory. */
const REST_AFTER_IF_WANTED_MS = 1_000;
/** Interval at which a waiting worker looks for commits of others, such as a decision or a cancellation. */
export const POLL_MS = 500;
/** Parts that may be enqueued before the run waits for a commit. */
const MAX_UNRECORDED = 100;
/** Maximum UTF-16 units of the JSON that a run keeps for its ticks. */
const MAX_STATE_SIZE = 32 * 1024 * 1024;

/** A run held by this process, up to date with the log. */
export interface RunSnapshot {
  state: RunState;
  /** Whether something has happened that `run()` has not seen. */
  needsTick: boolean;
  /** Size of the data for ticks, in UTF-16 units. */
  stateSize: number;
  /** Attempts running in this process. */
  running: number;
  /** Finished attempts that are not enqueued. */
  finished: number;
  /** Enqueued parts that are not recorded. */
  unrecorded: number;
  /** Whether an enqueued part reports effects on others, and so must not wait for more parts. */
  isUrgent: boolean;
  isStopping: boolean;
  /** Whether others wait for the memory that the run holds. */
  isRoomWanted: boolean;
  /** The attempts that can start. */
  startable(now: number): StepEntry[];
}

export type Action =
  /** Enqueues the results of finished attempts. */
  | { type: "report" }
  | { type: "tick" }
  /** Fails the run: it has more data than a tick may have. */
  | { type: "failTooLarge" }
  | { type: "start"; entries: StepEntry[] }
  /** Starts child runs and registers waits for runs. */
  | { type: "startLinks" }
  /** Appends the enqueued parts. `wait`: until the commit. */
  | { type: "flush"; wait: boolean }
  /** Takes a new lease, which fires the due timers. */
  | { type: "fireTimers" }
  /** Sleeps until woken. `poll`: checks the log if nothing has woken it. */
  | { type: "sleep"; ms: number; poll: boolean }
  /** Nothing is left to do here: the run has ended, parks, or is left to other workers. */
  | { type: "leave" };

/** The next action of a run's coordinator. `now`: epoch milliseconds. */
export function nextAction(run: RunSnapshot, now: number): Action {
  const { state, running, unrecorded } = run;
  // Does not flush between a report and its tick, so that they can share a commit.
  if (run.finished > 0) return unrecorded >= MAX_UNRECORDED ? { type: "flush", wait: true } : { type: "report" };
  const live = isLive(state) && !run.isStopping ? state : undefined;
  if (live && (run.needsTick || shouldPark(live)))
    return { type: run.stateSize > MAX_STATE_SIZE ? "failTooLarge" : "tick" };
  const entries = live ? run.startable(now) : [];
  if (entries.length > 0) return { type: "start", entries };
  if (live && hasOpenLinks(live)) return { type: "startLinks" };
  if (run.isUrgent) return { type: "flush", wait: false };
  if (running === 0 && unrecorded > 0) return { type: "flush", wait: true };
  if (!live) return running > 0 ? { type: "sleep", ms: POLL_MS, poll: false } : { type: "leave" };

  const due = Date.parse(nextDueTime(live)) - now;
  if (due <= 0 && !isRetryDue(live, now)) return { type: "fireTimers" };
  const restAfter = run.isRoomWanted ? REST_AFTER_IF_WANTED_MS : REST_AFTER_MS;
  if (running === 0 && due > restAfter && !hasWork(live)) return { type: "leave" };
  return { type: "sleep", ms: Math.max(1, Math.min(POLL_MS, due)), poll: true };
}
