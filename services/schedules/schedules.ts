import { setTimeout as sleep } from "node:timers/promises";
import { currentTime } from "#events/clock.ts";
import { parseStreamName } from "#events/ids.ts";
import type { EventLog, StreamHead } from "#events/ports.ts";
import { RecordScheduledRun, StartQueuedRun, TakeSchedule, type ScheduleEvent } from "#events/schedule.ts";
import { hasOpenStart, type ScheduleState } from "../deciders/scheduleState.ts";
import { trigger as triggerDecider, type TriggerState } from "../deciders/trigger.ts";
import type { CommittedCommand } from "../handle.ts";
import { createLeasedWork, type LostWork, type StartWork } from "../leasedWork.ts";
import { sendTo, type CommandTarget } from "../send.ts";
import { createFairSemaphore } from "../sharing/fairSemaphore.ts";
import { findHead, readState } from "../states.ts";
import { handleDueTime, isRunLive } from "./handleDueTime.ts";
import { createHeldTimes } from "./heldTimes.ts";
import { startScheduledRun, type ScheduledStartDeps } from "./startScheduledRun.ts";

/**
 * Schedules with open starts that one process holds. Most wait in a queue, possibly for days, which costs little: one query a
 * second for all. The limit per organization keeps its waiting schedules from blocking others.
 */
const HELD = { total: Infinity, perTenant: 1_000 };
/**
 * Due times and starts that one process handles at the same time. Nearly a whole batch of the sweep, because starts share queries
 * and commits and must not wait for the ticks of earlier runs. The rest is for other organizations.
 */
const STARTS = { total: 256, perTenant: 192 };
/** How long a sweep waits for a due time that it found before it looks for more. */
const MAX_SWEEP_WAIT_MS = 500;
const HELD_WAIT_MS = 100;
/** Interval of one query for all schedules with a queue: has the run before ended? */
const QUEUE_POLL_MS = 1_000;

interface SchedulesDeps extends ScheduledStartDeps {
  log: ScheduledStartDeps["log"] & Pick<EventLog, "isAlive">;
  /** This process. */
  worker: string;
  /** The clock for due times. */
  now?(): number;
  onError(error: unknown, stream: string): void;
}

type HeldTimes = ReturnType<typeof createHeldTimes>;

/** `due`: the due time that the sweep found; absent: the open starts. */
interface ScheduleWork extends CommandTarget {
  due?: ScheduleState;
}

async function readSchedule({ log }: SchedulesDeps, head: StreamHead): Promise<ScheduleState | undefined> {
  const { state }: { state: TriggerState } = await readState(log, head, triggerDecider);
  return state.schedule;
}

/** Starts a decided run and records the outcome. */
async function startDecided(deps: SchedulesDeps, target: CommandTarget, state: ScheduleState): Promise<void> {
  const { trigger_id } = state;
  const { due_at } = state.starting!;
  const refusal = (await startScheduledRun(deps, target, state, state.starting!)) ?? null;
  await sendTo(deps.handle, deps.worker)(target, RecordScheduledRun.type, { trigger_id, due_at, refusal });
}

/** Pauses all callers until the same moment, so that their look-ups share one query. */
function createSharedPause(ms: number, stopping: AbortSignal): () => Promise<void> {
  let pause: Promise<void> | undefined;
  return () =>
    (pause ??= sleep(ms, undefined, { signal: stopping, ref: false })
      .catch(() => {})
      .finally(() => (pause = undefined)));
}

interface Waiting {
  stopping: AbortSignal;
  /** Waits until queued starts look again. */
  pause(): Promise<void>;
  /** Runs work when there is room, unless the process stops first. */
  whenRoom(work: () => Promise<void>): Promise<void>;
}

/** Starts the open runs of a schedule one after the other, until none is left or the process stops. */
async function startOpenRuns(
  deps: SchedulesDeps,
  target: CommandTarget,
  { stopping, pause, whenRoom }: Waiting,
): Promise<void> {
  const send = sendTo(deps.handle, deps.worker);
  while (!stopping.aborted) {
    const head = await findHead(deps.log, target.stream);
    const state = head && (await readSchedule(deps, head));
    if (!state || state.worker !== deps.worker || !hasOpenStart(state)) return;
    if (state.starting) await whenRoom(() => startDecided(deps, target, state));
    else if (await isRunLive(deps.log, state.run_id)) await pause();
    else {
      const { trigger_id, epoch, queue } = state;
      await send(target, StartQueuedRun.type, { trigger_id, epoch, due_at: queue[0] });
    }
  }
}

const isDue = ({ paused, starting, next }: ScheduleState, now: number): boolean =>
  !paused && !starting && next !== null && Date.parse(next.fires_at) <= now;

/** A key of its own, because more due times are queued while an open start waits. */
const dueKey = (stream: string): string => `${stream}/due`;

/** Undefined: it was already started. */
async function waitForStart(ended: Promise<void> | undefined): Promise<void> {
  if (!ended) return sleep(HELD_WAIT_MS, undefined, { ref: false });
  // Errors are reported where the work is held.
  await Promise.race([ended.catch(() => {}), sleep(MAX_SWEEP_WAIT_MS, undefined, { ref: false })]);
}

/** Work that a schedule needs and no process does: a due time, or a start whose process was lost. */
async function findLostStart(
  deps: SchedulesDeps & { held: HeldTimes },
  head: StreamHead,
  isHeld: (key: string) => boolean,
): Promise<LostWork<ScheduleWork> | undefined> {
  const state = await readSchedule(deps, head);
  if (!state) return undefined;
  const { trigger_id, worker, epoch } = state;
  const { stream, organization_id } = head;
  if (isDue(state, (deps.now ?? currentTime)()) && !deps.held.holds(organization_id, state)) {
    const work = { stream, organization_id, due: state };
    const takeOver = (start: StartWork<ScheduleWork>) => waitForStart(start(work)?.ended);
    // It is short, and must happen even if queues hold all places of its organization.
    return { key: dueKey(stream), worker: null, needsRoom: false, takeOver };
  }
  if (!hasOpenStart(state) || isHeld(stream)) return undefined;
  if (worker !== null && worker !== deps.worker && (await deps.log.isAlive(worker))) return undefined;
  const send = sendTo(deps.handle, deps.worker);
  const take = () => send(head, TakeSchedule.type, { trigger_id, epoch, worker: deps.worker });
  return { key: stream, worker, needsRoom: true, takeOver: take };
}

function findLeased({ command: { stream, organization_id }, events }: CommittedCommand) {
  return (events as ScheduleEvent[]).flatMap((event) =>
    event.type === "ScheduleFired" || event.type === "ScheduleTaken"
      ? [{ worker: event.data.worker, work: { stream, organization_id } }]
      : [],
  );
}

/** The schedules of this process: handles due times, and starts the runs decided for them. */
export function createSchedules(deps: SchedulesDeps) {
  const stopped = new AbortController();
  const pause = createSharedPause(QUEUE_POLL_MS, stopped.signal);
  const room = createFairSemaphore(STARTS);
  const held = createHeldTimes(deps, deps.now ?? currentTime);

  async function processWork({ due, ...target }: ScheduleWork, stopping: AbortSignal): Promise<void> {
    const whenRoom: Waiting["whenRoom"] = (work) =>
      room.run(target.organization_id, async () => {
        if (!stopping.aborted) await work();
      });
    if (due) {
      const limited = held.wasLimited(target.organization_id, due);
      await whenRoom(() => handleDueTime(deps, target, { state: due, limited }));
    } else await startOpenRuns(deps, target, { stopping, pause, whenRoom });
  }

  const starts = createLeasedWork<ScheduleWork, { ended: Promise<void> }>({
    worker: deps.worker,
    limits: HELD,
    identify: ({ due, ...target }) => ({ key: due ? dueKey(target.stream) : target.stream, ...target }),
    leasedBy: findLeased,
    open: (head, isHeld) => findLostStart({ ...deps, held }, head, isHeld),
    start: (work, stopping) => ({ ended: processWork(work, stopping) }),
    onError: (error, { stream }) => deps.onError(error, stream),
  });
  return {
    hasRoom: starts.hasRoom,
    busy: starts.busy,
    resumeWork: starts.resumeWork,
    afterCommit(handled: CommittedCommand): void {
      if (parseStreamName(handled.command.stream).aggregate === "trigger") starts.afterCommit(handled);
    },
    /** Starts nothing more; resolves when the starts in progress have ended. Other processes take over the rest. */
    async stop(): Promise<void> {
      stopped.abort();
      await starts.stop();
    },
  };
}
