import type { Entry } from "#events/runParts.ts";
import { isRunning } from "../deciders/runState.ts";
import { notRun, runAttempt, type AttemptDeps } from "./attempt.ts";
import type { OpenRun } from "./openRun.ts";
import type { Script } from "./script.ts";

/** The attempts at one run's steps that this process executes, and what they have come to. */
export interface Attempts {
  /** Begins every one that has begun here by what is recorded or noted. */
  begin(script: Script, epoch: number): void;
  /** How many have not come to their end. */
  running(): number;
  /** What they have come to, in its order, until whoever notes it takes it off. */
  finished: Entry[];
  /** Whether one that did something that others can see has come to its end since this was last asked. */
  wasSeen(): boolean;
  /** The history is another than that which they began on: of what is told and of what runs, what fits it is kept. `first`: told before. */
  refit(first: Entry[], epoch: number): void;
  /** Cuts off what runs, and resolves when it has ended. */
  close(): Promise<void>;
}

export interface AttemptsDeps extends AttemptDeps {
  worker: string;
  /** A point at which the crash harness may end the process. */
  failpoint(name: string): void;
}

interface Told {
  /** Resolves when what is noted is on record. */
  recorded(): Promise<void>;
  /** One has come to its end. */
  wake(): void;
}

interface Running {
  key: string;
  attempt: number;
  cut: AbortController;
  ended: Promise<void>;
}

export function createAttempts(deps: AttemptsDeps, { history, values }: OpenRun, told: Told): Attempts {
  const finished: Entry[] = [];
  const running = new Map<string, Running>();
  let seen = false;

  function begin(script: Script, key: string, attempt: number, epoch: number): void {
    const name = `${key}/${attempt}`;
    if (running.has(name)) return;
    const cut = new AbortController();
    let asked = false;
    const recorded = (): Promise<void> => {
      asked = true;
      return told.recorded();
    };
    const finish = (entry: Entry): void => {
      if (cut.signal.aborted) return;
      if (asked) seen = true;
      finished.push(entry);
    };
    const work = async () => {
      const which = { key, attempt, epoch, worker: deps.worker, recorded };
      finish(await runAttempt(deps, { history, script, values }, which, cut.signal));
      deps.failpoint("after-step");
    };
    const one: Running = { key, attempt, cut, ended: Promise.resolve() };
    running.set(name, one);
    one.ended = work()
      .catch((error: unknown) => {
        if (cut.signal.aborted) return;
        deps.onError(error, history.stream);
        finish(notRun(history, { key, attempt, now: Date.now() }));
      })
      .finally(() => {
        if (running.get(name) === one) running.delete(name);
        told.wake();
      });
  }

  return {
    begin(script, epoch) {
      if (!("steps" in history.state)) return;
      for (const [key, { status, attempt }] of Object.entries(history.state.steps))
        if (status === "running" && !finished.some((entry) => entry.key === key)) begin(script, key, attempt, epoch);
    },
    running: () => running.size,
    finished,
    wasSeen() {
      const was = seen;
      seen = false;
      return was;
    },
    refit(first, epoch) {
      const isOpen = ({ key, attempt }: Pick<Running, "key" | "attempt">) =>
        isRunning(history.state, key, attempt, { epoch, worker: deps.worker });
      const all = [...first, ...finished.splice(0)];
      finished.push(...all.filter(isOpen));
      for (const [name, one] of running)
        if (!isOpen(one)) {
          running.delete(name);
          one.cut.abort(new Error("The attempt is not the one that runs."));
        }
    },
    async close() {
      const left = [...running.values()];
      for (const { cut } of left) cut.abort(new Error("The run is another process's now."));
      await Promise.all(left.map(({ ended }) => ended));
    },
  };
}
