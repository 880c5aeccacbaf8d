import type { EventLog } from "#events/ports.ts";
import { isLive } from "../deciders/runState.ts";
import type { VaultDeps } from "../thingBlobs.ts";
import type { CommandTarget } from "../send.ts";
import { fromLog, type OpenRun } from "./openRun.ts";
import type { WorkflowRunner } from "./tick.ts";

const MAX_PARKED_RUNS = 1_000;

interface CacheDeps extends VaultDeps {
  log: Pick<EventLog, "pages">;
  runner: Pick<WorkflowRunner, "forget">;
}

/** Keeps parked runs folded in memory, so that a decision resumes one without reading its log. Drops the oldest beyond MAX_PARKED_RUNS. */
export function createParkedRunCache(deps: CacheDeps) {
  const parked = new Map<string, OpenRun>();
  return {
    get: (stream: string): OpenRun | undefined => parked.get(stream),
    drop: (stream: string): void => void parked.delete(stream),

    /** Keeps a run whose coordinator has left it, unless it has ended or has unrecorded events. */
    keep(run: OpenRun): void {
      const { stream, state, created, version } = run.history;
      parked.delete(stream);
      if (!isLive(state) || version !== run.recorded()) return deps.runner.forget(created.run_id);
      parked.set(stream, run);
      if (parked.size <= MAX_PARKED_RUNS) return;
      const [oldest] = parked;
      parked.delete(oldest![0]);
      deps.runner.forget(oldest![1].history.created.run_id);
    },

    /** The run at `version` or later, from memory or from the log. Throws RunGone. */
    async open(target: CommandTarget, version: number): Promise<OpenRun> {
      const run = parked.get(target.stream);
      if (!run) return fromLog(deps, target);
      if (run.isBehind() || run.recorded() < version) await run.catchUp();
      return run;
    },
  };
}

export type ParkedRunCache = ReturnType<typeof createParkedRunCache>;
