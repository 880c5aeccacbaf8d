import type { EventLog } from "#events/ports.ts";
import { isLive } from "../deciders/runState.ts";
import type { VaultDeps } from "../thingBlobs.ts";
import type { Target } from "../send.ts";
import { fromLog, type OpenRun } from "./openRun.ts";
import type { WorkflowRunner } from "./tick.ts";

const MAX_RESTING = 1_000;

interface RestingDeps extends VaultDeps {
  log: Pick<EventLog, "read">;
  runner: Pick<WorkflowRunner, "forget">;
}

/** Keeps parked runs folded in memory, so that a decision resumes one without reading its log. Drops the oldest beyond MAX_RESTING. */
export function createRestingRuns(deps: RestingDeps) {
  const resting = new Map<string, OpenRun>();
  return {
    get: (stream: string): OpenRun | undefined => resting.get(stream),
    drop: (stream: string): void => void resting.delete(stream),

    /** Keeps a run that nothing drives any more, unless it has ended or has unrecorded events. */
    keep(run: OpenRun): void {
      const { stream, state, created, version } = run.history;
      resting.delete(stream);
      if (!isLive(state) || version !== run.recorded()) return deps.runner.forget(created.run_id);
      resting.set(stream, run);
      if (resting.size <= MAX_RESTING) return;
      const [oldest] = resting;
      resting.delete(oldest![0]);
      deps.runner.forget(oldest![1].history.created.run_id);
    },

    /** The run at `version` or later, from memory or from the log. Throws RunGone. */
    async open(target: Target, version: number): Promise<OpenRun> {
      const run = resting.get(target.stream);
      if (!run) return fromLog(deps, target);
      if (run.isBehind() || run.recorded() < version) await run.catchUp();
      return run;
    },
  };
}

export type RestingRuns = ReturnType<typeof createRestingRuns>;
