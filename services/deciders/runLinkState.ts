import type { RunEvent } from "#events/run.ts";
import type { Watcher } from "#events/runLinks.ts";
import { put, without } from "./records.ts";

/* The part of a run's state that ties it to other runs. */

/** The events that end a run, and its status afterwards. */
export type RunEnd = Extract<RunEvent, { type: "RunCompleted" | "RunFailed" | "RunCancelled" | "RunContinued" }>;
export const END_STATUS = {
  RunCompleted: "completed",
  RunFailed: "failed",
  RunCancelled: "cancelled",
  RunContinued: "continued",
} as const;

/** A child run that this run has requested. */
export interface ChildRun {
  key: string;
  run_id: string;
  status: "requested" | "started";
  /** Whether it is cancelled when this run fails or is cancelled. */
  isCancelled: boolean;
}

/** A child run of an earlier run in the chain. No call of this run has its key. */
export const inheritChild = (run_id: string): ChildRun => ({
  key: run_id,
  run_id,
  status: "started",
  isCancelled: true,
});

/** The turn of an agent that a call asked for. */
export interface AwaitedTurn {
  turn_id: string;
  thread_id: string;
}

/** A wait for the end of another run, for a message, or for a turn. */
export interface Wait {
  /** Null: a message or a turn is awaited. */
  awaited_run_id: string | null;
  /** Null: no timeout. */
  expires_at: string | null;
  /** Whether the awaited run or turn will notify this run. Messages need no registration. */
  isRegistered: boolean;
  turn?: AwaitedTurn;
  /** When to check whether the turn has ended; absent before it has started. */
  look_at?: string;
}

export interface LiveLinks {
  /** Steps scheduled and turns requested so far. */
  scheduled: number;
  /** An array, because every event copies it. */
  children: ChildRun[];
  /** Child runs requested so far. */
  childCount: number;
  waits: Record<string, Wait>;
  /** Runs that wait for this one's end, or that started it. */
  watchers: Watcher[];
}

/** What is left to do after the end of a run. */
export interface Settlement {
  /** Child runs to cancel. */
  cancel: string[];
  /** Child runs whose start was not recorded and may still be in progress. If this run were destroyed earlier, nothing would lead to them. */
  unstarted: string[];
  /** Turns to stop. */
  stop?: AwaitedTurn[];
  /** Watchers to notify of the end. */
  notify: Watcher[];
  /** The next run of the chain, which must be started. */
  next?: { run_id: string; watchers: Watcher[]; children?: string[] };
}

/** Whether a child run must be started, or a wait registered. */
export const hasOpenLinks = ({ children, waits }: LiveLinks): boolean =>
  children.some(({ status }) => status === "requested") ||
  Object.values(waits).some(({ isRegistered }) => !isRegistered);

const openTurns = ({ waits }: Pick<LiveLinks, "waits">): AwaitedTurn[] =>
  Object.values(waits).flatMap(({ turn }) => turn ?? []);

const unstartedOf = (children: ChildRun[]): string[] =>
  children.filter(({ status }) => status === "requested").map(({ run_id }) => run_id);

/** What must be settled at the end of a run; null for nothing. A completed run does not cancel its child runs. */
export function settlementForStatus({ children, watchers, waits }: LiveLinks, status: string): Settlement | null {
  const cancelled = status === "completed" ? [] : children.filter(({ isCancelled }) => isCancelled);
  const stop = openTurns({ waits });
  const unstarted = unstartedOf(children);
  if (cancelled.length + watchers.length + stop.length + unstarted.length === 0) return null;
  return {
    ...(stop.length > 0 && { stop }),
    cancel: cancelled.map(({ run_id }) => run_id),
    unstarted,
    notify: watchers,
  };
}

/** What must be settled when another run continues this one. The next run gets its watchers, and the child runs that end with the chain. */
const settlingContinued = (
  { watchers, children, waits }: LiveLinks,
  { run_id, continued_as }: { run_id: string; continued_as: string },
): Settlement => ({
  cancel: [],
  unstarted: unstartedOf(children),
  stop: openTurns({ waits }),
  notify: [],
  next: {
    run_id: continued_as,
    watchers: watchers.map((watcher) => ({ ...watcher, awaited_run_id: watcher.awaited_run_id ?? run_id })),
    children: children.filter(({ isCancelled }) => isCancelled).map((child) => child.run_id),
  },
});

/** What must be settled after an event that ends a run. */
export function settlementForEvent(links: LiveLinks, event: RunEnd): Settlement | null {
  if (event.type === "RunContinued") return settlingContinued(links, event.data);
  const settling = settlementForStatus(links, END_STATUS[event.type]);
  // earlier releases did not wait for child runs that are not cancelled, so nothing settles such an end
  const isWaitOnly = settling && settling.cancel.length + settling.notify.length === 0 && !settling.stop;
  return isWaitOnly && !event.data.settles ? null : settling;
}

export const toWatcher = (data: { watcher_id: string; awaited_run_id?: string | undefined }): Watcher => ({
  run_id: data.watcher_id,
  awaited_run_id: data.awaited_run_id ?? null,
});

export const withoutWatchers = (watchers: Watcher[], ended: string[] = []): Watcher[] =>
  watchers.filter(({ run_id }) => !ended.includes(run_id));

function changeWait({ waits }: LiveLinks, key: string, change: Partial<Wait>): Partial<LiveLinks> {
  const wait = waits[key];
  return wait ? { waits: put(waits, key, { ...wait, ...change }) } : {};
}

/** Ends a wait. A child run whose end has arrived needs no cancelling. */
function answerWait({ children, waits }: LiveLinks, key: string): Partial<LiveLinks> {
  const ended = waits[key]?.awaited_run_id;
  const isEnded = ({ run_id }: ChildRun) => run_id === ended;
  return {
    waits: without(waits, key),
    ...(children.some(isEnded) && { children: children.filter((child) => !isEnded(child)) }),
  };
}

/** The fields of a live run that links change. */
interface LinkedRun extends LiveLinks {
  woken: boolean;
  epoch: number;
  worker: string | null;
}

/** The events of a run about other runs, messages and turns of agents. */
type LinkEvent = Extract<
  RunEvent,
  {
    type:
      | "ChildRunRequested"
      | "ChildRunStarted"
      | "RunWaitStarted"
      | "MessageWaitStarted"
      | "AgentTurnRequested"
      | "RunWaitRegistered"
      | "AgentTurnStarted"
      | "AgentTurnPending"
      | "WaitAnswered"
      | "WaitTimedOut"
      | "RunWatched";
  }
>;

/** The events that do not change a live run. A new event type is in neither list, so that it does not compile until it is folded. */
type NeutralEvent = Extract<
  RunEvent,
  { type: "RunCreated" | "RunLogged" | "RunWarned" | "ValueNoted" | "RunSettled" | "RunKept" | "RunForgotten" }
>;

/** How an event about other runs changes a live run. */
export function evolveLinks(state: LiveLinks, event: LinkEvent | NeutralEvent): Partial<LinkedRun> {
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
        waits: put(state.waits, key, { awaited_run_id, expires_at, isRegistered: false }),
      };
    }
    case "MessageWaitStarted": {
      const { key, expires_at } = event.data;
      return {
        woken: false,
        waits: put(state.waits, key, { awaited_run_id: null, expires_at, isRegistered: true }),
      };
    }
    case "AgentTurnRequested": {
      const { key, turn_id, thread_id } = event.data;
      const wait: Wait = { awaited_run_id: null, expires_at: null, isRegistered: false, turn: { turn_id, thread_id } };
      return { woken: false, scheduled: state.scheduled + 1, waits: put(state.waits, key, wait) };
    }
    case "RunWaitRegistered":
      return changeWait(state, event.data.key, { isRegistered: true });
    case "AgentTurnStarted":
    case "AgentTurnPending": {
      const { key, look_at } = event.data;
      return changeWait(state, key, { isRegistered: true, look_at });
    }
    case "WaitAnswered": {
      const { key, epoch, worker } = event.data;
      return { woken: true, epoch, worker, ...answerWait(state, key) };
    }
    case "WaitTimedOut":
      return { woken: true, waits: without(state.waits, event.data.key) };
    case "RunWatched":
      return { watchers: [...withoutWatchers(state.watchers, event.data.ended), toWatcher(event.data)] };
    case "RunCreated":
    case "RunLogged":
    case "RunWarned":
    case "ValueNoted":
    case "RunSettled":
    case "RunKept":
    case "RunForgotten":
      return {};
  }
}
