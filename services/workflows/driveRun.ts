import { onSharedAbort } from "#events/onSharedAbort.ts";
import { isLive } from "../deciders/runState.ts";
import type { CommandTarget } from "../send.ts";
import { coordinateRun, type RunCoordinator } from "./coordinateRun.ts";
import type { CoordinatorDeps } from "./heldRun.ts";
import { sizeOfRun } from "./history.ts";
import type { OpenRun } from "./openRun.ts";
import type { ParkedRunCache } from "./parkedRunCache.ts";
import { NoRoom, type RunMemory, type RunRoom } from "./runMemory.ts";

/** A run that is open before it is driven. `creation`: resolves when the command that creates or resumes the run is handled. */
interface OpenedRun {
  run: OpenRun;
  room: RunRoom;
  creation: Promise<void>;
}

/** A run to drive. */
export interface RunWork extends CommandTarget {
  /** The minimum version of its stream. */
  version: number;
  opened?: OpenedRun | undefined;
}

export interface ActiveRun {
  run: OpenRun | undefined;
  coordinator: RunCoordinator | undefined;
  ended: Promise<void>;
}

type DriveDeps = CoordinatorDeps & { runMemory: Pick<RunMemory, "open"> };

interface Drive {
  deps: DriveDeps;
  parkedRuns: ParkedRunCache;
  work: RunWork;
  room: RunRoom;
  active: ActiveRun;
  stopping: AbortSignal;
}

/** Opens a run, and waits for its room while it holds nothing. Undefined when the process stops. */
async function openWithRoom({ parkedRuns, work, room, active, stopping }: Drive): Promise<OpenRun | undefined> {
  for (;;) {
    const parked = parkedRuns.take(work.stream);
    active.run = parked;
    try {
      return await parkedRuns.open(work, work.version, room, parked);
    } catch (error) {
      if (!(error instanceof NoRoom)) throw error;
    }
    active.run = undefined;
    if (parked) parkedRuns.keep(parked);
    if (!(await room.wait(stopping, parked === undefined))) return undefined;
  }
}

/** Coordinates an open run until there is nothing left to do for it, or it has no room; then it keeps its lease, and returns true. */
async function driveOnce({ deps, room, active, stopping }: Drive, run: OpenRun, creation?: Promise<void>) {
  const coordinator = coordinateRun(deps, run, room, creation);
  Object.assign(active, { run, coordinator });
  if (stopping.aborted) coordinator.stop();
  const forget = onSharedAbort(stopping, coordinator.stop);
  await coordinator.ended.finally(forget);
  return room.isFull() && isLive(run.history.state);
}

async function driveToEnd(drive: Drive): Promise<void> {
  const { parkedRuns, work, room, active, stopping } = drive;
  for (;;) {
    const { opened } = work;
    // the work lives longer than the run is in memory
    work.opened = undefined;
    const run = opened?.run ?? (await openWithRoom(drive));
    if (!run) return;
    room.shrink(sizeOfRun(run.history));
    const isFull = await driveOnce(drive, run, opened?.creation);
    if (!isFull) return parkedRuns.keep(run);
    parkedRuns.forget(run);
    Object.assign(active, { run: undefined, coordinator: undefined });
    if (!(await room.wait(stopping, false))) return;
  }
}

/**
 * Drives a run until it ends, parks or is left to another worker. A run without room is dropped from memory, and read again when it
 * has room.
 */
export function driveRun(deps: DriveDeps, parkedRuns: ParkedRunCache, work: RunWork, stopping: AbortSignal): ActiveRun {
  const active: ActiveRun = { run: work.opened?.run, coordinator: undefined, ended: Promise.resolve() };
  const room = work.opened?.room ?? deps.runMemory.open(work.organization_id);
  active.ended = driveToEnd({ deps, parkedRuns, work, room, active, stopping }).finally(room.close);
  return active;
}
