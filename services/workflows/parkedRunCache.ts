import type { EventLog } from "#events/ports.ts";
import { isLive } from "../deciders/runState.ts";
import type { VaultDeps } from "../thingBlobs.ts";
import type { CommandTarget } from "../send.ts";
import { fromLog, type OpenRun } from "./openRun.ts";
import { sizeOfRun } from "./history.ts";
import { NoRoom, type RunMemory, type RunRoom } from "./runMemory.ts";
import type { WorkflowRunner } from "./tick.ts";

/** Maximum parked runs of a process, and UTF-16 units of their texts: one run may have more than 32 million. */
const LIMITS = { runs: 1_000, size: 64 * 1024 * 1024 };

interface CacheDeps extends VaultDeps {
  log: Pick<EventLog, "pages">;
  runner: Pick<WorkflowRunner, "forget">;
  runMemory: Pick<RunMemory, "read">;
}

interface ParkedRun {
  run: OpenRun;
  size: number;
}

/** Parked runs, the oldest first, and their size by organization. */
function createParkedRuns() {
  const parked = new Map<string, ParkedRun>();
  const sizes = new Map<string, number>();
  let total = 0;

  function resize({ run: { history } }: ParkedRun, by: number): void {
    const { organization_id } = history;
    const size = (sizes.get(organization_id) ?? 0) + by;
    if (size > 0) sizes.set(organization_id, size);
    else sizes.delete(organization_id);
    total += by;
  }
  const largestOrganization = (): string | undefined =>
    [...sizes].reduce<[string?, number?]>((largest, one) => (one[1] > (largest[1] ?? 0) ? one : largest), [])[0];

  return {
    get: (stream: string): OpenRun | undefined => parked.get(stream)?.run,
    count: (): number => parked.size,
    size: (): number => total,
    remove(stream: string): void {
      const found = parked.get(stream);
      parked.delete(stream);
      if (found) resize(found, -found.size);
    },
    add(run: OpenRun): void {
      const added = { run, size: sizeOfRun(run.history) };
      parked.set(run.history.stream, added);
      resize(added, added.size);
    },
    /** The oldest run. `ofLargest`: of the organization whose runs have the most. */
    findOldest(ofLargest: boolean): OpenRun | undefined {
      const organization = ofLargest ? largestOrganization() : undefined;
      for (const { run } of parked.values())
        if (organization === undefined || run.history.organization_id === organization) return run;
      return undefined;
    },
  };
}

/**
 * Keeps parked runs folded in memory, so that a decision resumes one without reading its log. Beyond the limits the oldest is
 * dropped; if they are too large together, that of the organization whose runs have the most.
 */
export function createParkedRunCache(deps: CacheDeps, limits = LIMITS) {
  const parked = createParkedRuns();
  const forget = ({ history }: OpenRun): void => deps.runner.forget(history.created.run_id);
  return {
    get: parked.get,
    drop: parked.remove,
    /** Drops what the runner knows of a run that is read again from the log. */
    forget,

    /** Keeps a run whose coordinator has left it, unless it has ended or has unrecorded events. */
    keep(run: OpenRun): void {
      const { stream, state, version } = run.history;
      parked.remove(stream);
      if (!isLive(state) || version !== run.recorded()) return forget(run);
      parked.add(run);
      while (parked.count() > limits.runs || parked.size() > limits.size) {
        const oldest = parked.findOldest(parked.size() > limits.size)!;
        parked.remove(oldest.history.stream);
        forget(oldest);
      }
    },

    /** Takes out a run that resumes: it must not be dropped, nor make room, while a coordinator has it. */
    take(stream: string): OpenRun | undefined {
      const run = parked.get(stream);
      parked.remove(stream);
      return run;
    },

    /**
     * The run at `version` or later, from memory or from the log. `run`: taken out before. Throws RunGone, and NoRoom if it does not
     * fit into its room.
     */
    async open(
      target: CommandTarget,
      version: number,
      { fits }: Pick<RunRoom, "fits">,
      run = parked.get(target.stream),
    ): Promise<OpenRun> {
      if (!run) return deps.runMemory.read(target.organization_id, () => fromLog(deps, target, fits));
      if (!fits(sizeOfRun(run.history))) throw new NoRoom(`${target.stream} has no room to resume.`);
      if (run.isBehind() || run.recorded() < version) await run.catchUp();
      return run;
    },
  };
}

export type ParkedRunCache = ReturnType<typeof createParkedRunCache>;
