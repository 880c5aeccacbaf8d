import { Unavailable } from "#events/ports.ts";
import { AdvanceRun, TakeRun } from "#events/run.ts";
import type { StepEntry, StoredValue } from "#events/runParts.ts";
import { isLive } from "../deciders/runState.ts";
import { startLinkedWork, findEndedRuns, type LinkProgress } from "./linkedWork.ts";
import { failLostStep } from "./attemptFailure.ts";
import { checkApprovals } from "./checkApprovals.ts";
import { continuationDelay, planContinuation } from "./continueRun.ts";
import { createAttempts } from "./attempts.ts";
import {
  currentTime,
  catchUp,
  enqueue,
  enqueueLinks,
  fail,
  holdsLease,
  poll,
  recover,
  send,
  type DriveDeps,
  type Driver,
} from "./driver.ts";
import { startableSteps } from "./startableSteps.ts";
import { nextAction, POLL_MS, type Action, type DrivenRun } from "./nextAction.ts";
import type { OpenRun } from "./openRun.ts";
import { createOutbox, type Outbox } from "./outbox.ts";
import { planTick } from "./plan.ts";
import { ScriptGone, type Script } from "./script.ts";
import { createSleeper } from "./sleeper.ts";
import { createStateSizer } from "./stateSize.ts";
import { TickLost } from "./tick.ts";
import { buildTickCall } from "./tickCall.ts";
import { RunGone } from "./values.ts";

/** Runner crashes tolerated before the run fails with `tick_broken`. */
const MAX_TICK_CRASHES = 3;
const RETRY_MS = 200;

/** Controls a run that is being driven. */
export interface RunCoordinator extends Pick<Outbox, "hasPart" | "flushRequested" | "handOver"> {
  /** Tells the driver that events were folded. */
  wake(): void;
  /** Resolves when this process has nothing left to do for the run. */
  ended: Promise<void>;
  /** Starts nothing more; running attempts continue to their end. */
  stop(): void;
}

/** Steps whose retry is due, and steps that the limits of the run and its batches allow to start. */
function startableEntries({ history }: OpenRun, script: Script, now: number): StepEntry[] {
  const { state } = history;
  if (!isLive(state)) return [];
  const attempts = new Map(state.steps.map(({ key, attempt }) => [key, attempt]));
  const due = state.steps
    .filter(({ status, retry_at }) => status === "waiting" && Date.parse(retry_at!) <= now)
    .map(({ key }) => key);
  return [...due, ...startableSteps(history, { withLost: true })].map(
    (key): StepEntry =>
      failLostStep(history, script, key) ?? { type: "step_started", key, attempt: attempts.get(key)! + 1 },
  );
}

const describeRun = (driver: Driver, script: Script): DrivenRun => ({
  state: driver.run.history.state,
  needsTick: driver.run.history.needsTick,
  stateSize: driver.stateSize,
  running: driver.attempts.running(),
  finished: driver.attempts.finished(),
  unrecorded: driver.outbox.size(),
  isUrgent: driver.isUrgent,
  isStopping: driver.isStopping,
  startable: (now) => startableEntries(driver.run, script, now),
});

async function tick(driver: Driver, script: Script): Promise<void> {
  const { deps, run, outbox, sleeper } = driver;
  const { history, values } = run;
  const call = buildTickCall(history, script, currentTime(driver));
  const seen = history.version;
  try {
    const outcome = await checkApprovals(deps, history, call, await deps.runner.tick(call));
    driver.crashes = 0;
    const { end } = outcome;
    const delay = end.type === "continued" ? continuationDelay(history, call.now) : 0;
    // Ticks again afterwards, because anything may have happened during the pause.
    if (delay > 0) return void (await sleeper.sleep(delay));
    const continuation = end.type === "continued" ? await planContinuation(deps, history, end, values.store) : null;
    const result = await planTick(history, outcome, { now: call.now, store: values.store, continuation });
    const isStale = history.version !== seen || run.isBehind() || outbox.hasFailed();
    if (isStale) return;
    history.needsTick = false;
    enqueue(driver, [], result);
  } catch (error) {
    if (!(error instanceof TickLost)) throw error;
    driver.crashes += 1;
    if (driver.crashes < MAX_TICK_CRASHES) return void (await sleeper.sleep(RETRY_MS));
    const message = `run() crashed the process that ran it ${MAX_TICK_CRASHES} times; the run was given up.`;
    await fail(driver, "tick_broken", message);
  }
}

async function report(driver: Driver): Promise<void> {
  const { attempts, run } = driver;
  const entries = attempts.peekFinished();
  const jsons = new Map<StoredValue, string>();
  for (const entry of entries)
    if (entry.type === "step_completed") jsons.set(entry.result, await run.values.json(entry.result));
  attempts.dropFinished(entries.length);
  if (attempts.takeHadEffects()) driver.isUrgent = true;
  enqueue(driver, entries, null, (value) => jsons.get(value)!);
}

async function fireTimers(driver: Driver): Promise<void> {
  const { epoch, deps, outbox } = driver;
  await outbox.flush();
  const { position } = await send(driver, TakeRun.type, { epoch, worker: deps.worker, lost: false });
  if (position === 0) await poll(driver);
}

/**
 * Starts child runs and registers waits once their calls are recorded. Looks for awaited runs that have ended before that, so that
 * the wait, its answer and the next tick share a commit.
 */
async function startLinks(driver: Driver): Promise<void> {
  const { deps, run, outbox } = driver;
  const record = ({ links, jsons }: LinkProgress): boolean =>
    links.length > 0 && enqueueLinks(driver, links, (value) => jsons.get(value)!);
  if (record(await findEndedRuns(deps, run))) return;
  await outbox.flush();
  if (outbox.hasFailed() || run.isBehind()) return;
  if (!record(await startLinkedWork(deps, run))) await poll(driver);
}

async function sleepAndPoll(driver: Driver, ms: number): Promise<void> {
  if (!(await driver.sleeper.sleep(ms))) await poll(driver);
}

async function perform(driver: Driver, script: Script, action: Exclude<Action, { type: "leave" }>): Promise<void> {
  switch (action.type) {
    case "report":
      return report(driver);
    case "tick":
      return tick(driver, script);
    case "failTooLarge":
      return fail(driver, "run_state_too_large", "The results of the run's steps together are larger than 32 MiB.");
    case "start":
      if (!enqueue(driver, action.entries, null)) await sleepAndPoll(driver, POLL_MS);
      return;
    case "startLinks":
      return startLinks(driver);
    case "flush": {
      const flushed = driver.outbox.flush();
      driver.isUrgent = false;
      return action.wait ? flushed : undefined;
    }
    case "fireTimers":
      return fireTimers(driver);
    case "sleep":
      if (action.poll) return sleepAndPoll(driver, action.ms);
      await driver.sleeper.sleep(action.ms);
  }
}

/** Performs the next action; false when nothing is left to do in this process. */
async function advance(driver: Driver, script: Script): Promise<boolean> {
  const { run, outbox, attempts } = driver;
  if (outbox.hasFailed()) await recover(driver);
  if (run.isBehind()) await catchUp(driver);
  if (!holdsLease(driver)) return false;
  attempts.start(script, driver.epoch);
  const action = nextAction(describeRun(driver, script), currentTime(driver));
  if (action.type === "leave") return false;
  await perform(driver, script, action);
  return true;
}

async function driveToEnd(driver: Driver): Promise<void> {
  const { deps, run, outbox, attempts, sleeper } = driver;
  const { organization_id, stream, created } = run.history;
  const { definition_id, definition_version } = created;
  try {
    const script = await deps.scripts({ organization_id, definition_id, definition_version });
    for (let isActive = true; isActive; )
      try {
        isActive = await advance(driver, script);
      } catch (error) {
        // While the log is unavailable, attempts continue: the lease holds until the log says otherwise.
        if (!(error instanceof Unavailable)) throw error;
        deps.onError(error, stream);
        await sleeper.sleep(POLL_MS);
      }
  } catch (error) {
    if (error instanceof ScriptGone) await fail(driver, "definition_gone", error.message);
    else if (!(error instanceof RunGone)) throw error;
  } finally {
    await attempts.close();
    await outbox.close();
  }
}

/**
 * Drives one run while this process holds its lease: ticks when `run()` has something new to see, starts steps, and leaves when
 * the run only waits. Results are recorded a moment later, and always before an attempt that builds on them has effects on
 * others. `creation`: the command that creates or resumes the run is on its way (outbox.ts).
 */
export function drive(deps: DriveDeps, run: OpenRun, creation?: Promise<void>): RunCoordinator {
  const { history } = run;
  const sleeper = createSleeper();
  const { wake } = sleeper;
  const outbox = createOutbox(run, {
    send: (data) => send(driver, AdvanceRun.type, data),
    onFailed(error) {
      driver.failure = error;
      wake();
    },
    creation,
  });
  const attempts = createAttempts(deps, run, { ensureRecorded: outbox.flush, onEnded: wake });
  const driver: Driver = {
    deps,
    run,
    outbox,
    attempts,
    sleeper,
    stateSize: createStateSizer(history),
    epoch: "epoch" in history.state ? history.state.epoch : 0,
    crashes: 0,
    isUrgent: false,
    isStopping: false,
    failure: undefined,
  };
  return {
    wake,
    ended: driveToEnd(driver),
    stop() {
      driver.isStopping = true;
      wake();
    },
    hasPart: outbox.hasPart,
    flushRequested: outbox.flushRequested,
    handOver: outbox.handOver,
  };
}
