import { currentTime } from "#events/clock.ts";
import type { StepEntry } from "#events/runParts.ts";
import { isRunning } from "../deciders/runState.ts";
import { runAttempt, type AttemptDeps } from "./attempt.ts";
import { lengthOf } from "./values.ts";
import { failForRetry } from "./attemptFailure.ts";
import type { OpenRun } from "./openRun.ts";
import type { Script } from "./script.ts";

/** The attempts at one run's steps in this process. */
export interface Attempts {
  /** Starts every attempt that is running according to the history and has not started here. */
  start(script: Script, epoch: number): void;
  running(): number;
  /** Number of finished attempts that were not dropped. */
  finished(): number;
  /** The finished attempts in the order in which they ended. They stay until `drop`. */
  peekFinished(): StepEntry[];
  /** UTF-16 units of their results, or a few more. */
  finishedSize(): number;
  dropFinished(count: number): void;
  /** True once after an attempt with effects outside of its run has finished. */
  takeHadEffects(): boolean;
  /** After a reload of the history, aborts and drops attempts that it does not list as running. `finished`: more finished attempts. */
  refit(finished: StepEntry[], epoch: number): void;
  /** Aborts the running attempts; resolves when they have ended. */
  close(): Promise<void>;
}

export interface AttemptsDeps extends AttemptDeps {
  worker: string;
  /** A point at which the crash harness may end the process. */
  failpoint(name: string): void;
}

interface AttemptsOptions {
  /** Resolves when the history, including the starts of all attempts, is recorded. */
  ensureRecorded(): Promise<void>;
  onEnded(): void;
}

interface RunningAttempt {
  key: string;
  attempt: number;
  aborter: AbortController;
  ended: Promise<void>;
}

interface State extends AttemptsOptions {
  deps: AttemptsDeps;
  run: OpenRun;
  running: Map<string, RunningAttempt>;
  finished: StepEntry[];
  hadEffects: boolean;
}

function startAttempt(state: State, script: Script, key: string, attempt: number, epoch: number): void {
  const { deps, run, running } = state;
  const name = `${key}/${attempt}`;
  if (running.has(name)) return;
  const aborter = new AbortController();
  const { signal } = aborter;
  let hasEffects = false;
  // An attempt may have effects on others only after its start was recorded.
  const ensureRecorded = (): Promise<void> => {
    hasEffects = true;
    return state.ensureRecorded();
  };
  const finish = (entry: StepEntry): void => {
    if (signal.aborted) return;
    if (hasEffects) state.hadEffects = true;
    state.finished.push(entry);
  };
  const execute = async (): Promise<void> => {
    finish(await runAttempt(deps, run, script, { key, attempt, epoch, worker: deps.worker, ensureRecorded }, signal));
    deps.failpoint("after-step");
  };
  const one: RunningAttempt = { key, attempt, aborter, ended: Promise.resolve() };
  running.set(name, one);
  one.ended = execute()
    .catch((error: unknown) => {
      if (signal.aborted) return;
      deps.onError(error, run.history.stream);
      finish(failForRetry(run.history, { key, attempt, now: (deps.now ?? currentTime)() }));
    })
    .finally(() => {
      if (running.get(name) === one) running.delete(name);
      state.onEnded();
    });
}

const sizeOfResult = (entry: StepEntry): number => (entry.type === "step_completed" ? lengthOf(entry.result) : 0);

function refit(state: State, finished: StepEntry[], epoch: number): void {
  const { run, running, deps } = state;
  const isCurrent = ({ key, attempt }: Pick<RunningAttempt, "key" | "attempt">) =>
    isRunning(run.history.state, key, attempt, { epoch, worker: deps.worker });
  state.finished = [...finished, ...state.finished].filter(isCurrent);
  for (const [name, one] of running)
    if (!isCurrent(one)) {
      running.delete(name);
      one.aborter.abort(new Error("The attempt is no longer the current one."));
    }
}

export function createAttempts(deps: AttemptsDeps, run: OpenRun, options: AttemptsOptions): Attempts {
  const state: State = { ...options, deps, run, running: new Map(), finished: [], hadEffects: false };
  const { running } = state;
  return {
    start(script, epoch) {
      if (!("steps" in run.history.state)) return;
      const finished = new Set(state.finished.map(({ key }) => key));
      for (const { key, status, attempt } of run.history.state.steps)
        if (status === "running" && !finished.has(key)) startAttempt(state, script, key, attempt, epoch);
    },
    running: () => running.size,
    finished: () => state.finished.length,
    peekFinished: () => state.finished.slice(),
    finishedSize: () => state.finished.reduce((size, entry) => size + sizeOfResult(entry), 0),
    dropFinished: (count) => void state.finished.splice(0, count),
    takeHadEffects() {
      const { hadEffects } = state;
      state.hadEffects = false;
      return hadEffects;
    },
    refit: (finished, epoch) => refit(state, finished, epoch),
    async close() {
      const left = [...running.values()];
      for (const { aborter } of left) aborter.abort(new Error("Another process has the run now."));
      await Promise.all(left.map(({ ended }) => ended));
    },
  };
}
