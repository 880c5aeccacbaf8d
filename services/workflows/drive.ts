import type { Command } from "#events/envelope.ts";
import { AdvanceRun, FailRun, TakeRun, type Entry, type TickResult } from "#events/run.ts";
import { Unavailable, type EventLog } from "#events/ports.ts";
import { hasWork, isLive, nextDue } from "../deciders/runState.ts";
import type { Send } from "../send.ts";
import { givenUp, notRun, runAttempt, type AttemptDeps } from "./attempt.ts";
import { foresee, stateSize } from "./foresee.ts";
import { startable, takeBack } from "./history.ts";
import { planned } from "./plan.ts";
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
/** JSON of everything that a run keeps for its ticks, in UTF-16 units. */
const MOST_STATE = 32 * 1024 * 1024;

export interface DriveDeps extends AttemptDeps {
  log: Pick<EventLog, "heads">;
  worker: string;
  send: Send;
  runner: WorkflowRunner;
  scripts: ScriptStore;
  /** A point at which the crash harness may end the process. */
  failpoint(name: string): void;
}

/** What a run that is being driven is told from outside. */
export interface Drive {
  /** Something was folded in. */
  wake(): void;
  /** Resolves when nothing is to be done here any more. */
  ended: Promise<void>;
  /** Begins nothing more; attempts that run come to their end. */
  stop(): void;
}

/**
 * Drives one run as long as this process holds it: ticks when `run()` has something new to see, begins steps, records what
 * they came to together with what `run()` makes of it, and leaves when all that is left is to wait.
 */
export function drive(deps: DriveDeps, run: OpenRun): Drive {
  const { history, values } = run;
  const { stream, organization_id } = history;
  const { run_id } = history.created;
  const finished: Entry[] = [];
  const running = new Map<string, Promise<void>>();
  const lost = new AbortController();
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
    if (!head || head.version === history.version) return false;
    await run.catchUp();
    return true;
  }

  function begin(script: Script, key: string, attempt: number): void {
    const name = `${key}/${attempt}`;
    if (running.has(name)) return;
    const work = async () => {
      const entry = await runAttempt(deps, { history, script, values }, { key, attempt, epoch }, lost.signal);
      deps.failpoint("after-step");
      finished.push(entry);
    };
    const ended = work()
      .catch((error: unknown) => {
        if (lost.signal.aborted) return;
        deps.onError(error, stream);
        finished.push(notRun(history, { key, attempt, now: Date.now() }));
      })
      .finally(() => {
        running.delete(name);
        wake();
      });
    running.set(name, ended);
  }

  /** Begins every attempt that the log says has begun here. */
  function beginStarted(script: Script): void {
    if (!("steps" in history.state)) return;
    for (const [key, { status, attempt }] of Object.entries(history.state.steps))
      if (status === "running" && !finished.some((entry) => entry.key === key)) begin(script, key, attempt);
  }

  async function tick(script: Script, ending: Set<string>): Promise<TickResult | "lost"> {
    const { created, memo, args } = history;
    const now = Date.now();
    // what comes in the meantime it has not seen
    const seen = history.version;
    try {
      const outcome = await deps.runner.tick({
        organization_id,
        run_id,
        js: script.js,
        sha256: script.sha256,
        args,
        created_at: Date.parse(created.created_at),
        now,
        memo,
      });
      breaks = 0;
      return await planned(history, outcome, { now, seen, keep: values.keep, ending });
    } catch (error) {
      if (!(error instanceof TickLost)) throw error;
      breaks += 1;
      return "lost";
    }
  }

  const fail = (code: string, message: string) => send(FailRun.type, { epoch, code, error: { message, line: null } });

  /** Steps whose time for another attempt has come, and those for which a place has become free. */
  function starts(script: Script, ending: Set<string>): Entry[] {
    const { state } = history;
    if (!isLive(state) || stopping) return [];
    const now = Date.now();
    const due = Object.entries(state.steps).filter(
      ([, { status, retry_at }]) => status === "waiting" && Date.parse(retry_at!) <= now,
    );
    const places = startable(history, { ending }, true);
    return [...due.map(([key]) => key), ...places].map(
      (key): Entry =>
        givenUp(history, script, key) ?? { type: "step_started", key, attempt: state.steps[key]!.attempt + 1 },
    );
  }

  /** Records what steps came to and what `run()` wants next; whether anything was to be done. What is not recorded is left for the next time. */
  async function advance(script: Script): Promise<boolean> {
    const entries = finished.splice(0);
    try {
      return await record(script, entries);
    } catch (error) {
      finished.unshift(...entries);
      throw error;
    } finally {
      takeBack(history);
    }
  }

  async function record(script: Script, entries: Entry[]): Promise<boolean> {
    const live = isLive(history.state);
    const news = live && (await foresee(history, values, entries));
    const failing = entries.some(
      (entry) => entry.type === "step_attempt_failed" && entry.retry_at === null && !history.known.has(entry.key),
    );
    const isToTick = live && !stopping && !failing && (history.stale || news || isIdle());
    if (isToTick && size() > MOST_STATE) {
      await fail("run_state_too_large", "The results of the run's steps together are larger than 32 MiB.");
      finished.unshift(...entries);
      return true;
    }
    const ending = new Set(entries.map(({ key }) => key));
    const result = isToTick ? await tick(script, ending) : null;
    if (result === "lost") {
      if (breaks >= BREAKS)
        await fail("tick_broken", `run() broke the process that ran it ${BREAKS} times; it was given up.`);
      else await sleep(AGAIN_MS);
      finished.unshift(...entries);
      return true;
    }
    const more = result ? [] : starts(script, ending);
    if (entries.length + more.length === 0 && !result) return false;
    try {
      const { position } = await send(AdvanceRun.type, { epoch, entries: [...entries, ...more], tick: result });
      const isBehind = position === 0 ? await look() : run.isBehind();
      // a tick holds unless others have told the run something meanwhile
      const stoodOn = position === 0 ? history.version : run.stoodOn();
      if (result) history.stale = isBehind || stoodOn !== result.seen;
    } catch (error) {
      // what became of it is unknown; what fits no more is passed over when it is sent again
      deps.onError(error, stream);
      await sleep(AGAIN_MS);
      await run.catchUp();
      finished.unshift(...entries);
    }
    return true;
  }

  /** Everything waits, and the row does not say so yet. */
  const isIdle = (): boolean =>
    isLive(history.state) &&
    history.state.woken &&
    Object.values(history.state.steps).every(({ status }) => status === "waiting");

  /** Does what is to be done, or waits for a while; false when nothing is to be done here any more. */
  async function round(script: Script): Promise<boolean> {
    if (run.isBehind()) await run.catchUp();
    if (!isMine()) {
      const { state } = history;
      // a wait that has ended is a new lease, and it may be this process's again
      if (!("epoch" in state) || state.worker !== deps.worker || running.size > 0) return false;
      epoch = state.epoch;
    }
    beginStarted(script);
    if (await advance(script)) return true;
    const { state } = history;
    if (running.size === 0 && finished.length === 0 && (!isLive(state) || stopping)) return false;
    if (running.size > 0 && (!isLive(state) || stopping)) {
      await sleep(LOOK_MS);
      return true;
    }
    const due = isLive(state) ? Date.parse(nextDue(state)) - Date.now() : Infinity;
    if (due <= 0 && isLive(state) && !hasRetryDue(state)) {
      const { position } = await send(TakeRun.type, { epoch, worker: deps.worker, lost: false });
      if (position === 0) await look();
      return true;
    }
    if (running.size === 0 && due > NEAR_MS && isLive(state) && !hasWork(state)) return false;
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
      lost.abort(new Error("The run is another process's now."));
      await Promise.all(running.values());
    }
  }

  return {
    wake,
    ended: all(),
    stop() {
      stopping = true;
      wake();
    },
  };
}
