import { setTimeout as sleep } from "node:timers/promises";
import type { CommandResult } from "#events/envelope.ts";
import { newCommand } from "#events/envelope.ts";
import { parseStreamName } from "#events/ids.ts";
import type { EventLog, StreamHead } from "#events/ports.ts";
import {
  FireSchedule,
  RecordScheduledRun,
  StartQueuedRun,
  TakeSchedule,
  type ScheduleEvent,
} from "#events/schedule.ts";
import { isLive } from "../deciders/runState.ts";
import { hasOpenStart, type ScheduleState } from "../deciders/scheduleState.ts";
import { trigger as triggerDecider, type TriggerState } from "../deciders/trigger.ts";
import type { CommittedCommand } from "../handle.ts";
import { createLeasedWork, type LostWork } from "../leasedWork.ts";
import type { Target } from "../send.ts";
import { readState } from "../states.ts";
import { isContinued, readNewestRun } from "../workflows/newestRun.ts";
import type { StartDeps } from "../workflows/startRun.ts";
import { startScheduledRun } from "./startScheduledRun.ts";

/** Schedules with a start that one process holds at once; one that waits in a queue costs a share of one query a second. */
const MAX_HELD = 2_000;
const MAX_HELD_OF_ORGANIZATION = MAX_HELD / 2;
/** How often all schedules with a queue look whether the run before has ended, in one query. */
const QUEUE_POLL_MS = 1_000;
const TIMEOUT_MS = 10_000;

interface SchedulesDeps extends StartDeps {
  log: Pick<EventLog, "heads" | "read" | "readNewest" | "isAlive">;
  /** This process. */
  worker: string;
  onError(error: unknown, stream: string): void;
}

async function readSchedule({ log }: SchedulesDeps, head: StreamHead): Promise<ScheduleState | undefined> {
  const { state }: { state: TriggerState } = await readState(log, head, triggerDecider);
  return state.schedule;
}

/** Whether the last run of a schedule is live, or one that goes on for it. */
async function isRunLive({ log }: SchedulesDeps, run_id: string | null): Promise<boolean> {
  const newest = run_id === null ? undefined : await readNewestRun(log, run_id);
  return newest !== undefined && (isLive(newest.state) || isContinued(newest.state));
}

/** Commands of this process to one trigger. */
const sendTo =
  ({ handle, worker }: SchedulesDeps, { stream, organization_id }: Target) =>
  (type: string, data: object): Promise<CommandResult> =>
    handle(newCommand(type, { stream, organization_id, request_id: worker, timeout_ms: TIMEOUT_MS, data }));

/** Starts the run that is decided, and records what became of it. */
async function startDecided(deps: SchedulesDeps, target: Target, state: ScheduleState): Promise<void> {
  const { trigger_id } = state;
  const { due_at } = state.starting!;
  const refusal = (await startScheduledRun(deps, target, state, state.starting!)) ?? null;
  await sendTo(deps, target)(RecordScheduledRun.type, { trigger_id, due_at, refusal });
}

/** All callers resume at the same moment, so their look-ups share one query. */
function createSharedPause(ms: number, stopping: AbortSignal): () => Promise<void> {
  let pause: Promise<void> | undefined;
  return () =>
    (pause ??= sleep(ms, undefined, { signal: stopping, ref: false })
      .catch(() => {})
      .finally(() => (pause = undefined)));
}

/** Starts the open runs of a schedule one after the other, until none is left or the process stops. */
async function startOpenRuns(
  deps: SchedulesDeps,
  target: Target,
  { stopping, pause }: { stopping: AbortSignal; pause(): Promise<void> },
): Promise<void> {
  while (!stopping.aborted) {
    const head = (await deps.log.heads([target.stream])).get(target.stream);
    const state = head && (await readSchedule(deps, head));
    if (!state || state.worker !== deps.worker || !hasOpenStart(state)) return;
    if (state.starting) await startDecided(deps, target, state);
    else if (await isRunLive(deps, state.run_id)) await pause();
    else {
      const { trigger_id, epoch, queue } = state;
      await sendTo(deps, target)(StartQueuedRun.type, { trigger_id, epoch, due_at: queue[0] });
    }
  }
}

/** What a schedule needs that no process does: a due time, or the start of a run whose process was lost. */
async function findLostStart(
  deps: SchedulesDeps,
  head: StreamHead,
  isHeld: (key: string) => boolean,
): Promise<LostWork<never> | undefined> {
  const state = await readSchedule(deps, head);
  if (!state) return undefined;
  const { trigger_id, next, paused, starting, worker, epoch } = state;
  const key = head.stream;
  const send = sendTo(deps, head);
  if (!paused && !starting && next && Date.parse(next.fires_at) <= Date.now()) {
    const fire = async () => {
      const overlaps = await isRunLive(deps, state.run_id);
      // The commit of ScheduleFired starts the run.
      await send(FireSchedule.type, { trigger_id, due_at: next.due_at, overlaps });
    };
    return { key, worker: null, needsRoom: true, takeOver: fire };
  }
  if (!hasOpenStart(state) || isHeld(key)) return undefined;
  if (worker !== null && worker !== deps.worker && (await deps.log.isAlive(worker))) return undefined;
  const take = () => send(TakeSchedule.type, { trigger_id, epoch, worker: deps.worker });
  return { key, worker, needsRoom: true, takeOver: take };
}

function findLeased({ command: { stream, organization_id }, events }: CommittedCommand) {
  return (events as ScheduleEvent[]).flatMap((event) =>
    event.type === "ScheduleFired" || event.type === "ScheduleTaken"
      ? [{ worker: event.data.worker, work: { stream, organization_id } }]
      : [],
  );
}

/** The schedules of this process: attends to due times, and starts the runs that they decide. */
export function createSchedules(deps: SchedulesDeps) {
  const stopped = new AbortController();
  const pause = createSharedPause(QUEUE_POLL_MS, stopped.signal);
  const starts = createLeasedWork<Target, { ended: Promise<void> }>({
    worker: deps.worker,
    limits: { total: MAX_HELD, perTenant: MAX_HELD_OF_ORGANIZATION },
    lease: ({ stream, organization_id }) => ({ key: stream, stream, organization_id }),
    leasedBy: findLeased,
    open: (head, isHeld) => findLostStart(deps, head, isHeld),
    start: (target, stopping) => ({ ended: startOpenRuns(deps, target, { stopping, pause }) }),
    onError: (error, { stream }) => deps.onError(error, stream),
  });
  return {
    hasRoom: starts.hasRoom,
    busy: starts.busy,
    attend: starts.attend,
    afterCommit(handled: CommittedCommand): void {
      if (parseStreamName(handled.command.stream).aggregate === "trigger") starts.afterCommit(handled);
    },
    /** Starts nothing more; resolves when the starts under way have ended. Other processes take over the rest. */
    async stop(): Promise<void> {
      stopped.abort();
      await starts.stop();
    },
  };
}
