import type { Command } from "#events/envelope.ts";
import { AdvanceRun, FailRun, TakeRun } from "#events/run.ts";
import type { Entry, TickResult, Value } from "#events/runParts.ts";
import { Unavailable, type EventLog } from "#events/ports.ts";
import { hasWork, isLive, nextDue } from "../deciders/runState.ts";
import type { Send } from "../send.ts";
import { givenUp } from "./attempt.ts";
import { createAttempts, type AttemptsDeps } from "./attempts.ts";
import { startable, type Json } from "./history.ts";
import { createOutbox, type Outbox } from "./outbox.ts";
import { planned } from "./plan.ts";
import { stateSize } from "./stateSize.ts";
import { tickCall } from "./tickCall.ts";
import { ScriptGone, type Script, type ScriptStore } from "./script.ts";
import { RunGone } from "./values.ts";
import { TickLost, type WorkflowRunner } from "./tick.ts";
import type { OpenRun } from "./openRun.ts";

/** What is due within this is waited for here; what is due later costs nobody anything but its row. */
const NEAR_MS = 60_000;
/** How often a run that waits for a step looks whether others have told it something: a decision, a cancel. */
const LOOK_MS = 500;
/** Times that a tick may take its process with it. */
const BREAKS = 3;
const AGAIN_MS = 200;
/** Parts that may be noted and not recorded. */
const MOST_NOTED = 100;
/** JSON of everything that a run keeps for its ticks, in UTF-16 units. */
const MOST_STATE = 32 * 1024 * 1024;

const NOTHING: Json = () => "";

export interface DriveDeps extends AttemptsDeps {
  log: Pick<EventLog, "heads">;
  send: Send;
  runner: WorkflowRunner;
  scripts: ScriptStore;
}

/** What a run that is being driven is told from outside. */
export interface Drive {
  /** Something was folded in. */
  wake(): void;
  /** Resolves when nothing is to be done here any more. */
  ended: Promise<void>;
  /** Begins nothing more; attempts that run come to their end. */
  stop(): void;
  /** Of a run that is being created: resolves when it needs to be on record to go on. */
  wanted: Outbox["wanted"];
  /** What has come of it until now, to be recorded with its creation. */
  handOver: Outbox["handOver"];
}

/**
 * Drives one run as long as this process holds it: ticks when `run()` has something new to see, begins steps, notes what they
 * came to and what `run()` makes of it, and leaves when all that is left is to wait. What is noted is recorded a moment later,
 * and before an attempt that stands on it does anything that others can see. `creation`: of a run that is not in the log yet.
 */
export function drive(deps: DriveDeps, run: OpenRun, creation?: Promise<void>): Drive {
  const { history, values } = run;
  const { stream, organization_id } = history;
  const { run_id } = history.created;
  let breaks = 0;
  let stopping = false;
  let asleep: (() => void) | undefined;
  const size = stateSize(history);

  const wake = (): void => asleep?.();
  const isMine = (): boolean => {
    const { state } = history;
    return "epoch" in state && state.epoch === epoch && state.worker === deps.worker;
  };
  let epoch = "epoch" in history.state ? history.state.epoch : 0;
  const send = (type: Command["type"], data: object) =>
    deps.send({ stream, organization_id }, type, { run_id, ...data });
  let failure: unknown;
  const outbox = createOutbox(run, {
    send: (data) => send(AdvanceRun.type, data),
    onFailed(error) {
      failure = error;
      wake();
    },
    creation,
  });
  const attempts = createAttempts(deps, run, { recorded: () => outbox.flush(), wake });
  const { finished } = attempts;

  /** Whether it was woken before its time. */
  async function sleep(ms: number): Promise<boolean> {
    const woken = await new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(false), ms);
      asleep = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
    asleep = undefined;
    return woken;
  }

  /** Whether others have told the run something; then it is known here too. */
  async function look(): Promise<boolean> {
    const head = (await deps.log.heads([stream])).get(stream);
    if (!head || head.version <= run.recorded()) return false;
    await catchUp();
    return true;
  }

  /** What is noted goes first: where it stands on what others have changed, it does not come about. */
  async function catchUp(): Promise<void> {
    await outbox.flush();
    if (outbox.failed()) await rewind();
    else await run.catchUp();
  }

  /** What was noted is not what the log says: what steps have come to is told again, the rest is left to the next tick. */
  async function rewind(): Promise<void> {
    if (failure !== undefined) {
      const error = failure;
      failure = undefined;
      // what the log refuses it would refuse again and again: the run is let go, and given up when that comes too often
      if (!(error instanceof Unavailable)) throw error as Error;
      // what became of it is unknown; what fits no more is passed over when it is told again
      deps.onError(error, stream);
      await sleep(AGAIN_MS);
    }
    await run.reload();
    attempts.refit(outbox.rescue(), epoch);
  }

  /** Undefined where it came to nothing, or stands on what is no more. */
  async function tick(script: Script): Promise<TickResult | undefined> {
    const call = tickCall(history, script);
    const { now } = call;
    const seen = history.version;
    try {
      const outcome = await deps.runner.tick(call);
      breaks = 0;
      const result = await planned(history, outcome, { now, keep: values.keep });
      return history.version === seen && !run.isBehind() && !outbox.failed() ? result : undefined;
    } catch (error) {
      if (!(error instanceof TickLost)) throw error;
      breaks += 1;
      if (breaks < BREAKS) await sleep(AGAIN_MS);
      else await fail("tick_broken", `run() broke the process that ran it ${BREAKS} times; it was given up.`);
      return undefined;
    }
  }

  async function fail(code: string, message: string): Promise<void> {
    await outbox.flush();
    await send(FailRun.type, { epoch, code, error: { message, line: null } });
  }

  /** Steps whose time for another attempt has come, and those for which a place has become free. */
  function starts(script: Script): Entry[] {
    const { state } = history;
    if (!isLive(state) || stopping) return [];
    const now = Date.now();
    const due = Object.entries(state.steps).filter(
      ([, { status, retry_at }]) => status === "waiting" && Date.parse(retry_at!) <= now,
    );
    return [...due.map(([key]) => key), ...startable(history, { withLost: true })].map(
      (key): Entry =>
        givenUp(history, script, key) ?? { type: "step_started", key, attempt: state.steps[key]!.attempt + 1 },
    );
  }

  const noteNow = (entries: Entry[], tick: TickResult | null, json: Json): boolean =>
    outbox.note({ at: new Date().toISOString(), entries, tick }, epoch, json);

  async function noteFinished(): Promise<boolean> {
    const entries = finished.slice();
    const known = new Map<Value, string>();
    for (const entry of entries)
      if (entry.type === "step_completed") known.set(entry.result, await values.json(entry.result));
    finished.splice(0, entries.length);
    return noteNow(entries, null, (value) => known.get(value)!);
  }

  /** Notes what steps came to and what `run()` wants next; whether anything was to be done. */
  async function advance(script: Script): Promise<boolean> {
    if (outbox.size() >= MOST_NOTED) await outbox.flush();
    const isUrgent = attempts.wasSeen();
    const told = finished.length > 0 && (await noteFinished());
    const went = (await goOn(script)) || told;
    if (isUrgent) void outbox.flush();
    return went;
  }

  async function goOn(script: Script): Promise<boolean> {
    if (isLive(history.state) && !stopping && (history.stale || isIdle())) {
      if (size() > MOST_STATE)
        await fail("run_state_too_large", "The results of the run's steps together are larger than 32 MiB.");
      else {
        const result = await tick(script);
        if (!result) return true;
        history.stale = false;
        noteNow([], result, NOTHING);
      }
      return true;
    }
    const more = starts(script);
    return more.length > 0 && noteNow(more, null, NOTHING);
  }

  /** Everything waits, and the row does not say so yet. */
  const isIdle = (): boolean =>
    isLive(history.state) &&
    history.state.woken &&
    Object.values(history.state.steps).every(({ status }) => status === "waiting");

  /** Does what is to be done, or waits for a while; false when nothing is to be done here any more. */
  async function round(script: Script): Promise<boolean> {
    if (outbox.failed()) await rewind();
    if (run.isBehind()) await catchUp();
    if (!isMine()) {
      const { state } = history;
      // a wait that has ended is a new lease, and it may be this process's again
      if (!("epoch" in state) || state.worker !== deps.worker || attempts.running() > 0) return false;
      epoch = state.epoch;
    }
    attempts.begin(script, epoch);
    if (await advance(script)) return true;
    if (attempts.running() === 0 && outbox.size() > 0) {
      await outbox.flush();
      return true;
    }
    const { state } = history;
    if (attempts.running() === 0 && finished.length === 0 && (!isLive(state) || stopping)) return false;
    if (attempts.running() > 0 && (!isLive(state) || stopping)) {
      await sleep(LOOK_MS);
      return true;
    }
    const due = isLive(state) ? Date.parse(nextDue(state)) - Date.now() : Infinity;
    if (due <= 0 && isLive(state) && !hasRetryDue(state)) {
      await outbox.flush();
      const { position } = await send(TakeRun.type, { epoch, worker: deps.worker, lost: false });
      if (position === 0) await look();
      return true;
    }
    if (attempts.running() === 0 && due > NEAR_MS && isLive(state) && !hasWork(state)) return false;
    // whoever wakes it knows what it is; others are looked for in silence
    if (!(await sleep(Math.max(1, Math.min(LOOK_MS, due))))) await look();
    return true;
  }
  const hasRetryDue = ({ steps }: { steps: Record<string, { retry_at: string | null }> }): boolean =>
    Object.values(steps).some(({ retry_at }) => retry_at !== null && Date.parse(retry_at) <= Date.now());

  /** While the log cannot be asked, what has begun goes on: it is this process's until the log says otherwise. */
  async function go(script: Script): Promise<void> {
    for (let goes = true; goes; )
      try {
        goes = await round(script);
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error;
        deps.onError(error, stream);
        await sleep(LOOK_MS);
      }
  }

  async function all(): Promise<void> {
    try {
      const { definition_id, definition_version } = history.created;
      const script = await deps.scripts({ organization_id, definition_id, definition_version });
      await go(script);
    } catch (error) {
      if (error instanceof ScriptGone) await fail("definition_gone", error.message);
      else if (!(error instanceof RunGone)) throw error;
    } finally {
      await attempts.close();
      await outbox.close();
    }
  }

  return {
    wake,
    ended: all(),
    stop() {
      stopping = true;
      wake();
    },
    wanted: outbox.wanted,
    handOver: outbox.handOver,
  };
}
