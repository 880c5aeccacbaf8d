import { currentTime as timeOfProcess } from "#events/clock.ts";
import { Unavailable } from "#events/ports.ts";
import { FailRun } from "#events/run.ts";
import type { LinkEntry, StepEntry, TickResult } from "#events/runParts.ts";
import { findHead } from "../states.ts";
import type { Attempts, AttemptsDeps } from "./attempts.ts";
import type { ReadJson } from "./history.ts";
import type { OpenRun } from "./openRun.ts";
import type { Outbox } from "./outbox.ts";
import type { LinkDeps } from "./linkedWork.ts";
import type { ScriptStore } from "./script.ts";
import type { Sleeper } from "./sleeper.ts";
import type { WorkflowRunner } from "./tick.ts";

const RETRY_MS = 200;

const noValues: ReadJson = () => "";

export interface DriveDeps extends AttemptsDeps, LinkDeps {
  runner: WorkflowRunner;
  scripts: ScriptStore;
}

/** A run driven by this process, and its outbox to the log. */
export interface Driver {
  deps: DriveDeps;
  run: OpenRun;
  outbox: Outbox;
  attempts: Attempts;
  sleeper: Sleeper;
  stateSize: () => number;
  /** The lease under which this process drives the run. */
  epoch: number;
  /** Consecutive crashes of the runner. */
  crashes: number;
  isUrgent: boolean;
  isStopping: boolean;
  /** Why the last append failed; undefined if the log had other events. */
  failure: unknown;
}

export const send = ({ deps, run: { history } }: Driver, type: string, data: object) =>
  deps.send(history, type, { run_id: history.created.run_id, ...data });

export const currentTime = ({ deps }: Pick<Driver, "deps">): number => (deps.now ?? timeOfProcess)();
const recordTime = (driver: Driver): string => new Date(currentTime(driver)).toISOString();

export const enqueue = (driver: Driver, entries: StepEntry[], tick: TickResult | null, readJson = noValues): boolean =>
  driver.outbox.enqueue({ at: recordTime(driver), entries, tick }, driver.epoch, readJson);

/** Entries about other runs are dropped when their append fails, because the coordinator looks again. */
export const enqueueLinks = (driver: Driver, links: LinkEntry[], readJson: ReadJson): boolean =>
  driver.outbox.enqueue({ at: recordTime(driver), links, entries: [], tick: null }, driver.epoch, readJson);

/** Recovers from a failed append: reloads the history and re-queues finished step results; the next tick recomputes the rest. */
export async function recover(driver: Driver): Promise<void> {
  const { deps, run, outbox, attempts, sleeper, failure } = driver;
  driver.failure = undefined;
  if (failure !== undefined) {
    // The log would refuse the events again. Leave the run: the sweep fails it when that happens too often.
    if (!(failure instanceof Unavailable)) throw failure as Error;
    // The append may have succeeded; appending recorded results again changes nothing.
    deps.onError(failure, run.history.stream);
    await sleeper.sleep(RETRY_MS);
  }
  await run.reload();
  attempts.refit(outbox.takeUnrecorded(), driver.epoch);
}

/** Folds events appended by others. Records its own first, because optimistic events may conflict with them. */
export async function catchUp(driver: Driver): Promise<void> {
  await driver.outbox.flush();
  if (driver.outbox.hasFailed()) await recover(driver);
  else await driver.run.catchUp();
}

export async function poll(driver: Driver): Promise<void> {
  const { deps, run } = driver;
  const { stream } = run.history;
  const head = await findHead(deps.log, stream);
  if (head && head.version > run.recorded()) await catchUp(driver);
}

/** Whether this process holds the lease. Adopts its own newer lease when no attempt of the older one is running. */
export function holdsLease(driver: Driver): boolean {
  const { state } = driver.run.history;
  if (!("epoch" in state) || state.worker !== driver.deps.worker) return false;
  if (state.epoch !== driver.epoch && driver.attempts.running() > 0) return false;
  driver.epoch = state.epoch;
  return true;
}

export async function fail(driver: Driver, code: string, message: string): Promise<void> {
  await driver.outbox.flush();
  await send(driver, FailRun.type, { epoch: driver.epoch, code, error: { message, line: null } });
}
