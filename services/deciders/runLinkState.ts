import type { RunEvent } from "#events/run.ts";

/* The part of a run's state that ties it to other runs. */

/** A child run that this run has requested. */
export interface ChildRun {
  key: string;
  run_id: string;
  status: "requested" | "started";
  /** Whether it is cancelled when this run fails or is cancelled. */
  isCancelled: boolean;
}

/** A wait for the end of another run. */
export interface RunWait {
  awaited_run_id: string;
  /** Null: no timeout. */
  expires_at: string | null;
  /** Whether the end of the awaited run will be told to this one. */
  isRegistered: boolean;
}

export interface LiveLinks {
  /** A list, because each event copies it. */
  children: ChildRun[];
  /** Child runs requested so far. */
  childCount: number;
  runWaits: Record<string, RunWait>;
  /** Runs that wait for the end of this one, or that started it. */
  watchers: string[];
}

/** What is left to do after the end of a run. */
export interface Settling {
  /** Child runs to cancel. */
  cancel: string[];
  /** Those of `cancel` whose start was not recorded: it may still be on its way. */
  unstarted: string[];
  /** Runs to tell of the end. */
  notify: string[];
}

/** Whether a child run is to be started, or a wait to be registered. */
export const hasOpenLinks = ({ children, runWaits }: LiveLinks): boolean =>
  children.some(({ status }) => status === "requested") ||
  Object.values(runWaits).some(({ isRegistered }) => !isRegistered);

/** What the end of a run asks for; null for nothing. A completed run leaves its child runs alone. */
export function settlingAfter({ children, watchers }: LiveLinks, status: string): Settling | null {
  const cancelled = status === "completed" ? [] : children.filter(({ isCancelled }) => isCancelled);
  if (cancelled.length === 0 && watchers.length === 0) return null;
  return {
    cancel: cancelled.map(({ run_id }) => run_id),
    unstarted: cancelled.filter(({ status: start }) => start === "requested").map(({ run_id }) => run_id),
    notify: watchers,
  };
}

const withoutWait = (runWaits: LiveLinks["runWaits"], key: string): LiveLinks["runWaits"] => {
  const { [key]: _, ...rest } = runWaits;
  return rest;
};

/** Ends a wait. A child run whose end was awaited needs no cancelling any more. */
function answerWait({ children, runWaits }: LiveLinks, key: string): Partial<LiveLinks> {
  const ended = runWaits[key]?.awaited_run_id;
  const isEnded = ({ run_id }: ChildRun) => run_id === ended;
  return {
    runWaits: withoutWait(runWaits, key),
    ...(children.some(isEnded) && { children: children.filter((child) => !isEnded(child)) }),
  };
}

/** The fields of a live run that its links change. */
interface Linked extends LiveLinks {
  woken: boolean;
  epoch: number;
  worker: string | null;
}

/** How an event about other runs changes a live run. */
export function evolveLinks(state: LiveLinks, event: RunEvent): Partial<Linked> {
  switch (event.type) {
    case "ChildRunRequested": {
      const { key, child_run_id: run_id, on_parent_end } = event.data;
      const child: ChildRun = { key, run_id, status: "requested", isCancelled: on_parent_end === "cancel" };
      return { woken: false, childCount: state.childCount + 1, children: [...state.children, child] };
    }
    case "ChildRunStarted": {
      const { key } = event.data;
      const start = (child: ChildRun): ChildRun => (child.key === key ? { ...child, status: "started" } : child);
      return { woken: true, children: state.children.map(start) };
    }
    case "RunWaitStarted": {
      const { key, awaited_run_id, expires_at } = event.data;
      return {
        woken: false,
        runWaits: { ...state.runWaits, [key]: { awaited_run_id, expires_at, isRegistered: false } },
      };
    }
    case "RunWaitRegistered": {
      const { key } = event.data;
      const wait = state.runWaits[key];
      return wait ? { runWaits: { ...state.runWaits, [key]: { ...wait, isRegistered: true } } } : {};
    }
    case "WaitAnswered": {
      const { key, epoch, worker } = event.data;
      return { woken: true, epoch, worker, ...answerWait(state, key) };
    }
    case "WaitTimedOut":
      return { woken: true, runWaits: withoutWait(state.runWaits, event.data.key) };
    case "RunWatched":
      return { watchers: [...state.watchers, event.data.watcher_id] };
    default:
      return {};
  }
}
