import type { z } from "zod";
import type { Command } from "#events/envelope.ts";
import { parseStreamName } from "#events/ids.ts";
import type { EventFrom } from "#events/define.ts";
import type { EventLog } from "#events/ports.ts";
import { DecideApproval, StartRun, type RunCreated, type RunEvent } from "#events/run.ts";
import { AnswerRunWaits, DeliverMessage } from "#events/runLinks.ts";
import type { StoredValue } from "#events/runParts.ts";
import { run as decider } from "../deciders/run.ts";
import { isLive } from "../deciders/runState.ts";
import { hasWork } from "../deciders/runWork.ts";
import type { CommittedCommand } from "../handle.ts";
import { createLeasedWork } from "../leasedWork.ts";
import type { VaultDeps } from "../thingBlobs.ts";
import type { RunCoordinator } from "./coordinateRun.ts";
import { driveRun, type ActiveRun, type RunWork } from "./driveRun.ts";
import type { CoordinatorDeps } from "./heldRun.ts";
import { findLostRun, type LostRunsDeps } from "./lostRuns.ts";
import { sizeOfRun } from "./history.ts";
import { fromCreated, type OpenRun } from "./openRun.ts";
import { createParkedRunCache, type ParkedRunCache } from "./parkedRunCache.ts";
import type { RunMemory, RunRoom } from "./runMemory.ts";
import { createRecentEnds } from "./recentRunEvents.ts";
import { RunGone } from "./values.ts";

/** Runs that one process drives at the same time. */
const MAX_RUNS = 1_000;
const MAX_RUNS_OF_ORGANIZATION = MAX_RUNS / 2;
/**
 * How long a command that starts or resumes a run waits for the run's next tick, to record both in one commit. A small tick takes 1
 * ms, plus the wait for a thread on a busy machine, where saving a commit matters most.
 */
const FIRST_TICK_MS = 250;
/** How long it then waits for what the tick has started. */
const FIRST_STEPS_MS = 20;

export interface RunsDeps extends VaultDeps, Omit<CoordinatorDeps, "log" | "findRecentEnd">, Omit<LostRunsDeps, "log"> {
  log: Pick<EventLog, "heads" | "read" | "pages" | "event" | "readNewest" | "isAlive">;
  runMemory: Pick<RunMemory, "open" | "hasRoom" | "read">;
}

/** Types of events that give a run to a worker. */
const LEASING = new Set<RunEvent["type"]>(["RunCreated", "RunTaken", "ApprovalDecided", "WaitAnswered"]);

function findLeasedRuns({ command: { stream, organization_id }, events, version }: CommittedCommand) {
  return (events as RunEvent[]).flatMap((event) => {
    if (!LEASING.has(event.type)) return [];
    const { worker } = event.data as { worker: string | null };
    return [{ worker, work: { stream, organization_id, version } }];
  });
}

/**
 * The run that StartRun is about to create. Undefined if the commit cannot include the first progress, because the run claims a slot
 * or its input is in blobs.
 */
async function openCreated(deps: RunsDeps, command: Command, creation: Promise<void>): Promise<OpenRun | undefined> {
  const { slot, args, inherited = [] } = command.data as z.infer<typeof StartRun.schema>;
  // a run that ends at once would release its claim in the commit that takes it, which is impossible
  if (slot !== null || ![args, ...inherited].every((value) => "json" in value)) return undefined;
  const [event] = decider.decide(command as never, decider.initial) as [EventFrom<typeof RunCreated>];
  return fromCreated(deps, command, event, creation);
}

/** Commands that answer a call of a run. */
const ANSWERS = new Set<string>([DecideApproval.type, AnswerRunWaits.type, DeliverMessage.type]);
/** Events by which such a command resumes a run. */
const RESUMING = new Set<RunEvent["type"]>(["ApprovalDecided", "WaitAnswered"]);

/**
 * The parked run whose call a command answers, with the command's events applied. Undefined if it is not parked, if the command is
 * refused, or if the answer is in a blob.
 */
async function openAnswered(
  parkedRuns: ParkedRunCache,
  command: Command,
  room: RunRoom,
  isHeld: (stream: string) => boolean,
): Promise<OpenRun | undefined> {
  const { stream, data } = command;
  const { answer } = data as { answer?: StoredValue };
  if (isHeld(stream) || (answer && !("json" in answer))) return undefined;
  try {
    const run = await parkedRuns.open(command, 0, room);
    const { state } = run.history;
    if (!isLive(state) || hasWork(state) || isHeld(stream)) return undefined;
    const events = decider.decide(command as never, state);
    if (!events.some(({ type }) => RESUMING.has(type))) return undefined;
    parkedRuns.drop(stream);
    run.applyOptimistically(events, () => answer?.json ?? "");
    return run;
  } catch {
    // the command is refused, the run was destroyed or has no room, or the log is unavailable: handling the command reports it
    return undefined;
  }
}

/** Resolves when it is time to hand the run's progress so far to the command that starts or resumes the run. */
async function waitForFirstTick({ hasPart, flushRequested, ended }: RunCoordinator): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  let timer = setTimeout(resolve, FIRST_TICK_MS);
  const startSteps = (): void => {
    clearTimeout(timer);
    timer = setTimeout(resolve, FIRST_STEPS_MS);
  };
  void hasPart.then(startSteps);
  await Promise.race([flushRequested, late, ended.catch(() => {})]);
  clearTimeout(timer);
}

type DrivenRuns = Pick<ReturnType<typeof createLeasedWork<RunWork, ActiveRun>>, "get" | "start">;

/**
 * Drives a run while the command that starts it, or answers one of its calls, is on its way to the log, and adds the run's first
 * progress to the command. Undefined for other commands. Call `release` when the command is handled.
 */
async function beginRun(
  deps: RunsDeps,
  parkedRuns: ParkedRunCache,
  runs: DrivenRuns,
  command: Command,
): Promise<{ command: Command; release(): void } | undefined> {
  const isStart = command.type === StartRun.type;
  if (command.worker !== deps.worker || !(isStart || ANSWERS.has(command.type))) return undefined;
  const { promise: creation, resolve: release } = Promise.withResolvers<void>();
  const { stream, organization_id } = command;
  const room = deps.runMemory.open(organization_id);
  const run = isStart
    ? await openCreated(deps, command, creation)
    : await openAnswered(parkedRuns, command, room, (one) => runs.get(one) !== undefined);
  const seen = isStart ? undefined : run?.history.version;
  const work = run && { stream, organization_id, version: 0, opened: { run, room, creation } };
  const coordinator = work && room.fits(sizeOfRun(run.history)) ? runs.start(work)?.coordinator : undefined;
  if (!coordinator) {
    room.close();
    return undefined;
  }
  await waitForFirstTick(coordinator);
  const parts = coordinator.handOver(command.type);
  const data = { ...(command.data as object), ...(seen !== undefined && { seen }), parts };
  return { command: { ...command, data }, release };
}

/** The runs of this process: drives those it holds, and takes over those without a living worker. */
export function createRuns(deps: RunsDeps) {
  const parkedRuns = createParkedRunCache(deps);
  const recentEnds = createRecentEnds();
  const coordinatorDeps = { ...deps, findRecentEnd: recentEnds.find };
  const runs = createLeasedWork<RunWork, ActiveRun>({
    worker: deps.worker,
    limits: { total: MAX_RUNS, perTenant: MAX_RUNS_OF_ORGANIZATION },
    hasShare: deps.runMemory.hasRoom,
    identify: ({ stream, organization_id }) => ({ key: stream, stream, organization_id }),
    leasedBy: findLeasedRuns,
    open: (head, isHeld) => findLostRun(deps, head, isHeld),
    start: (work, stopping) => driveRun(coordinatorDeps, parkedRuns, work, stopping),
    onError(error, { stream }) {
      parkedRuns.drop(stream);
      if (!(error instanceof RunGone)) deps.onError(error, stream);
    },
  });

  return {
    hasRoom: runs.hasRoom,
    busy: runs.busy,
    resumeWork: runs.resumeWork,
    /** Starts nothing more; resolves when running attempts have ended. Other workers take over the rest. */
    stop: runs.stop,

    begin: (command: Command) => beginRun(deps, parkedRuns, runs, command),

    afterCommit(handled: CommittedCommand): void {
      const { command, events, version } = handled;
      if (parseStreamName(command.stream).aggregate !== "run") return;
      recentEnds.add(handled);
      const active = runs.get(command.stream);
      const run = active?.run ?? parkedRuns.get(command.stream);
      run?.commit(command.type, { events, version });
      if (active) active.coordinator?.wake();
      else runs.afterCommit(handled);
    },
  };
}
