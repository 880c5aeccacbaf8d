import { Unavailable } from "#events/ports.ts";
import { AdvanceRun, TakeRun } from "#events/run.ts";
import type { StoredValue } from "#events/runParts.ts";
import { startLinkedWork, findEndedRuns, type LinkProgress } from "./linkedWork.ts";
import { checkApprovals } from "./checkApprovals.ts";
import { continuationDelay, planContinuation } from "./continueRun.ts";
import { createAttempts } from "./attempts.ts";
import { createPlaceFinder } from "./findPlace.ts";
import {
  timeFor,
  catchUp,
  enqueue,
  enqueueLinks,
  fail,
  holdsLease,
  poll,
  recover,
  send,
  type CoordinatorDeps,
  type HeldRun,
} from "./heldRun.ts";
import { sizeOfRun } from "./history.ts";
import { startableEntries } from "./startableSteps.ts";
import { nextAction, POLL_MS, type Action, type RunSnapshot } from "./nextAction.ts";
import type { OpenRun } from "./openRun.ts";
import { createOutbox, type Outbox } from "./outbox.ts";
import { planTick } from "./plan.ts";
import type { RunRoom } from "./runMemory.ts";
import { ScriptGone, type Script } from "./script.ts";
import { createSleeper } from "./sleeper.ts";
import { TickLost } from "./tick.ts";
import { buildTickCall } from "./tickCall.ts";
import { RunGone } from "./values.ts";

/** Runner crashes tolerated before the run fails with `tick_broken`. */
const MAX_TICK_CRASHES = 3;
const RETRY_MS = 200;

/** Controls the coordinator of a run. */
export interface RunCoordinator extends Pick<Outbox, "hasPart" | "flushRequested" | "handOver"> {
  /** Tells the coordinator that events were folded. */
  wake(): void;
  /** Resolves when this process has nothing left to do for the run. */
  ended: Promise<void>;
  /** Starts nothing more; running attempts continue to their end. */
  stop(): void;
}

const takeSnapshot = (held: HeldRun, script: Script): RunSnapshot => ({
  state: held.run.history.state,
  needsTick: held.run.history.needsTick,
  stateSize: held.run.history.memoSize,
  running: held.attempts.running(),
  finished: held.attempts.finished(),
  unrecorded: held.outbox.size(),
  isUrgent: held.isUrgent,
  isStopping: held.isStopping,
  isRoomWanted: held.room.isWanted(),
  startable: (now) => startableEntries(held.run, script, now),
});

async function tick(held: HeldRun, script: Script): Promise<void> {
  const { deps, run, outbox, sleeper } = held;
  const { history, values } = run;
  const call = buildTickCall(history, script, timeFor(held));
  const seen = history.version;
  try {
    const outcome = await checkApprovals(deps, history, call, await deps.runner.tick(call));
    held.crashes = 0;
    const { end } = outcome;
    const delay = end.type === "continued" ? continuationDelay(history, call.now) : 0;
    // Ticks again afterwards, because anything may have happened during the pause.
    if (delay > 0) return void (await sleeper.sleep(delay));
    const continuation = end.type === "continued" ? await planContinuation(deps, history, end, values.store) : null;
    const result = await planTick(history, outcome, { now: call.now, store: values.store, continuation });
    const isStale = history.version !== seen || run.isBehind() || outbox.hasFailed();
    if (isStale) return;
    history.needsTick = false;
    enqueue(held, [], result);
  } catch (error) {
    if (!(error instanceof TickLost)) throw error;
    held.crashes += 1;
    if (held.crashes < MAX_TICK_CRASHES) return void (await sleeper.sleep(RETRY_MS));
    const message = `run() crashed the process that ran it ${MAX_TICK_CRASHES} times; the run was given up.`;
    await fail(held, "tick_broken", message);
  }
}

async function report(held: HeldRun): Promise<void> {
  const { attempts, run, room } = held;
  const entries = attempts.peekFinished();
  const jsons = new Map<StoredValue, string>();
  // without room the run is left, so that nothing reads its results
  for (const entry of entries)
    if (entry.type === "step_completed" && !room.isFull()) jsons.set(entry.result, await run.values.json(entry.result));
  attempts.dropFinished(entries.length);
  if (attempts.takeHadEffects()) held.isUrgent = true;
  enqueue(held, entries, null, (value) => jsons.get(value) ?? "");
}

async function fireTimers(held: HeldRun): Promise<void> {
  const { epoch, deps, outbox } = held;
  await outbox.flush();
  const { position } = await send(held, TakeRun.type, { epoch, worker: deps.worker, lost: false });
  if (position === 0) await poll(held);
}

/**
 * Starts child runs and registers waits once their calls are recorded. First looks for awaited runs that have already ended, so
 * that the wait, its answer and the next tick share a commit.
 */
async function startLinks(held: HeldRun, script: Script): Promise<void> {
  const { deps, run, outbox } = held;
  const record = ({ links, jsons }: LinkProgress): boolean =>
    links.length > 0 && enqueueLinks(held, links, (value) => jsons.get(value)!);
  if (record(await findEndedRuns(deps, run))) return;
  await outbox.flush();
  if (outbox.hasFailed() || run.isBehind()) return;
  const placeOf = createPlaceFinder(deps.runner, () => buildTickCall(run.history, script, timeFor(held)));
  if (!record(await startLinkedWork({ ...deps, placeOf }, run))) await poll(held);
}

async function sleepAndPoll(held: HeldRun, ms: number): Promise<void> {
  if (!(await held.sleeper.sleep(ms))) await poll(held);
}

async function perform(held: HeldRun, script: Script, action: Exclude<Action, { type: "leave" }>): Promise<void> {
  switch (action.type) {
    case "report":
      return report(held);
    case "tick":
      return tick(held, script);
    case "failTooLarge":
      return fail(held, "run_state_too_large", "The results of the run's steps together are larger than 32 MiB.");
    case "start":
      if (!enqueue(held, action.entries, null)) await sleepAndPoll(held, POLL_MS);
      return;
    case "startLinks":
      return startLinks(held, script);
    case "flush": {
      const flushed = held.outbox.flush();
      held.isUrgent = false;
      return action.wait ? flushed : undefined;
    }
    case "fireTimers":
      return fireTimers(held);
    case "sleep":
      if (action.poll) return sleepAndPoll(held, action.ms);
      await held.sleeper.sleep(action.ms);
  }
}

/** Performs the next action; false when nothing is left to do in this process. */
async function advance(held: HeldRun, script: Script): Promise<boolean> {
  const { run, outbox, attempts } = held;
  if (outbox.hasFailed()) await recover(held);
  if (run.isBehind()) await catchUp(held);
  if (!holdsLease(held)) return false;
  // its running attempts end first
  if (!held.room.fits(sizeOfRun(run.history) + attempts.finishedSize())) held.isStopping = true;
  attempts.start(script, held.epoch);
  const action = nextAction(takeSnapshot(held, script), timeFor(held));
  if (action.type === "leave") return false;
  await perform(held, script, action);
  return true;
}

async function coordinateToEnd(held: HeldRun): Promise<void> {
  const { deps, run, outbox, attempts, sleeper } = held;
  const { organization_id, stream, created } = run.history;
  const { definition_id, definition_version } = created;
  try {
    const script = await deps.scripts({ organization_id, definition_id, definition_version });
    for (let isActive = true; isActive; )
      try {
        isActive = await advance(held, script);
      } catch (error) {
        // While the log is unavailable, attempts continue: the lease holds until the log says otherwise.
        if (!(error instanceof Unavailable)) throw error;
        deps.onError(error, stream);
        await sleeper.sleep(POLL_MS);
      }
  } catch (error) {
    if (error instanceof ScriptGone) await fail(held, "definition_gone", error.message);
    else if (!(error instanceof RunGone)) throw error;
  } finally {
    await attempts.close();
    await outbox.close();
  }
}

/**
 * Drives one run while this process holds its lease: ticks when `run()` has something new to see, starts steps, and leaves when
 * the run only waits. Results are recorded a moment later, but always before an attempt that builds on them has visible effects.
 * It also leaves when the run does not fit into its room. `creation`: resolves when the command that creates or resumes the run is
 * handled (outbox.ts).
 */
export function coordinateRun(
  deps: CoordinatorDeps,
  run: OpenRun,
  room: RunRoom,
  creation?: Promise<void>,
): RunCoordinator {
  const { history } = run;
  const sleeper = createSleeper();
  const { wake } = sleeper;
  const outbox = createOutbox(run, {
    send: (data) => send(held, AdvanceRun.type, data),
    onFailed(error) {
      held.failure = error;
      wake();
    },
    creation,
  });
  const attempts = createAttempts(deps, run, { ensureRecorded: outbox.flush, onEnded: wake });
  const held: HeldRun = {
    deps,
    run,
    outbox,
    attempts,
    sleeper,
    room,
    epoch: "epoch" in history.state ? history.state.epoch : 0,
    crashes: 0,
    isUrgent: false,
    isStopping: false,
    failure: undefined,
  };
  return {
    wake,
    ended: coordinateToEnd(held),
    stop() {
      held.isStopping = true;
      wake();
    },
    hasPart: outbox.hasPart,
    flushRequested: outbox.flushRequested,
    handOver: outbox.handOver,
  };
}
