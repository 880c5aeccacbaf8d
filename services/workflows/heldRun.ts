import { currentTime } from "#events/clock.ts";
import type { LogLimits } from "#events/logLimits.ts";
import { Unavailable } from "#events/ports.ts";
import { FailRun } from "#events/run.ts";
import type { LinkEntry, StepEntry, TickResult } from "#events/runParts.ts";
import type { Keyring } from "#events/vault.ts";
import { findHead } from "../states.ts";
import type { Attempts, AttemptsDeps } from "./attempts.ts";
import type { ReadJson } from "./history.ts";
import type { OpenRun } from "./openRun.ts";
import type { RunRoom } from "./runMemory.ts";
import type { Outbox } from "./outbox.ts";
import type { LinkDeps } from "./linkedWork.ts";
import type { ScriptStore } from "./script.ts";
import type { Sleeper } from "./sleeper.ts";
import type { WorkflowRunner } from "./tick.ts";

const RETRY_MS = 200;

const noValues: ReadJson = () => "";

export interface CoordinatorDeps extends AttemptsDeps, LinkDeps {
  runner: WorkflowRunner;
  scripts: ScriptStore;
  keyring: Pick<Keyring, "keyedHash">;
  logLimits: Pick<LogLimits, "refusal">;
}

/** A run that this process holds, and its outbox to the log. */
export interface HeldRun {
  deps: CoordinatorDeps;
  run: OpenRun;
  outbox: Outbox;
  attempts: Attempts;
  sleeper: Sleeper;
  room: RunRoom;
  /** The lease under which this process drives the run. */
  epoch: number;
  /** Consecutive crashes of the runner. */
  crashes: number;
  isUrgent: boolean;
  isStopping: boolean;
  /** Why the last append failed; undefined if the log had other events. */
  failure: unknown;
}

export const send = ({ deps, run: { history } }: HeldRun, type: string, data: object) =>
  deps.send(history, type, { run_id: history.created.run_id, ...data });

export const timeFor = ({ deps }: Pick<HeldRun, "deps">): number => (deps.now ?? currentTime)();
const recordTime = (held: HeldRun): string => new Date(timeFor(held)).toISOString();

export const enqueue = (held: HeldRun, entries: StepEntry[], tick: TickResult | null, readJson = noValues): boolean =>
  held.outbox.enqueue({ at: recordTime(held), entries, tick }, held.epoch, readJson);

/** Entries about other runs are dropped when their append fails, because the coordinator looks again. */
export const enqueueLinks = (held: HeldRun, links: LinkEntry[], readJson: ReadJson): boolean =>
  held.outbox.enqueue({ at: recordTime(held), links, entries: [], tick: null }, held.epoch, readJson);

/** Recovers from a failed append: reloads the history and re-queues finished step results; the next tick recomputes the rest. */
export async function recover(held: HeldRun): Promise<void> {
  const { deps, run, outbox, attempts, sleeper, failure } = held;
  held.failure = undefined;
  if (failure !== undefined) {
    // The log would refuse the events again. Leave the run: the sweep fails it when that happens too often.
    if (!(failure instanceof Unavailable)) throw failure as Error;
    // The append may have succeeded; appending recorded results again changes nothing.
    deps.onError(failure, run.history.stream);
    await sleeper.sleep(RETRY_MS);
  }
  await run.reload();
  attempts.refit(outbox.takeUnrecorded(), held.epoch);
}

/** Folds events appended by others. Records its own first, because optimistic events may conflict with them. */
export async function catchUp(held: HeldRun): Promise<void> {
  await held.outbox.flush();
  if (held.outbox.hasFailed()) await recover(held);
  else await held.run.catchUp();
}

export async function poll(held: HeldRun): Promise<void> {
  const { deps, run } = held;
  const { stream } = run.history;
  const head = await findHead(deps.log, stream);
  if (head && head.version > run.recorded()) await catchUp(held);
}

/** Whether this process holds the lease. Adopts its own newer lease when no attempt of the older one is running. */
export function holdsLease(held: HeldRun): boolean {
  const { state } = held.run.history;
  if (!("epoch" in state) || state.worker !== held.deps.worker) return false;
  if (state.epoch !== held.epoch && held.attempts.running() > 0) return false;
  held.epoch = state.epoch;
  return true;
}

export async function fail(held: HeldRun, code: string, message: string): Promise<void> {
  await held.outbox.flush();
  await send(held, FailRun.type, { epoch: held.epoch, code, error: { message, line: null } });
}
