import type { EventLog } from "#events/ports.ts";
import { isLive } from "../deciders/runState.ts";
import { createCapacity } from "../sharing/capacity.ts";
import { createFairSemaphore } from "../sharing/fairSemaphore.ts";
import type { VaultDeps } from "../thingBlobs.ts";
import type { Target } from "../send.ts";
import { fromLog, type OpenRun } from "./openRun.ts";
import { createStateSizer } from "./stateSize.ts";
import type { WorkflowRunner } from "./tick.ts";

const MAX_RESTING = 1_000;
/** UTF-16 units of JSON that they hold: those of all organizations, and of one. */
const MAX_HELD = { total: 64 * 1024 * 1024, perTenant: 16 * 1024 * 1024 };
/** Runs that are read from the log at once, and those of one organization. */
const READS = { total: 8, perTenant: 2 };

interface RestingDeps extends VaultDeps {
  log: Pick<EventLog, "pages">;
  runner: Pick<WorkflowRunner, "forget">;
}

/**
 * Runs that wait, kept folded in memory: a decision resumes one without reading its log. Drops the oldest beyond MAX_RESTING, and the oldest
 * of its organization for what exceeds its share.
 */
export function createRestingRuns(deps: RestingDeps, limits = MAX_HELD) {
  const resting = new Map<string, { run: OpenRun; size: number }>();
  const held = createCapacity(limits);
  const reads = createFairSemaphore(READS);

  function drop(stream: string): OpenRun | undefined {
    const found = resting.get(stream);
    if (!found) return undefined;
    resting.delete(stream);
    held.release(found.run.history.organization_id, found.size);
    return found.run;
  }
  const forget = (run: OpenRun | undefined): void => {
    if (run) deps.runner.forget(run.history.created.run_id);
  };
  function oldestOf(organization: string): string | undefined {
    for (const [stream, { run }] of resting) if (run.history.organization_id === organization) return stream;
    return undefined;
  }

  return {
    get: (stream: string): OpenRun | undefined => resting.get(stream)?.run,
    drop: (stream: string): void => void drop(stream),

    /** Keeps a run that nothing drives any more, unless it has ended or holds events that were not recorded. */
    keep(run: OpenRun): void {
      const { stream, state, organization_id, version } = run.history;
      drop(stream);
      if (!isLive(state) || version !== run.recorded()) return forget(run);
      const size = createStateSizer(run.history)();
      for (let oldest; !held.hasRoom(organization_id, size) && (oldest = oldestOf(organization_id)); )
        forget(drop(oldest));
      if (!held.hasRoom(organization_id, size)) return forget(run);
      resting.set(stream, { run, size });
      held.take(organization_id, size);
      if (resting.size > MAX_RESTING) forget(drop(resting.keys().next().value!));
    },

    /** The run up to `version` at least, from memory or from the log. Throws RunGone. */
    async open(target: Target, version: number): Promise<OpenRun> {
      const found = resting.get(target.stream);
      if (!found) return reads.run(target.organization_id, () => fromLog(deps, target));
      const { run } = found;
      if (run.isBehind() || run.recorded() < version) await run.catchUp();
      return run;
    },
  };
}

export type RestingRuns = ReturnType<typeof createRestingRuns>;
