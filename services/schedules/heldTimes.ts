import type { FreeSpace } from "#events/freeSpace.ts";
import type { LogLimits } from "#events/logLimits.ts";
import type { Refusal } from "#events/runLinks.ts";
import { whyUnstarted, type ScheduleState } from "../deciders/scheduleState.ts";

interface LimitDeps {
  freeSpace: FreeSpace;
  logLimits: Pick<LogLimits, "refusal">;
}

const NO_SPACE: Refusal = { code: "storage_full", message: "A disk of the service is almost full." };

const LIMITS: ReadonlySet<string> = new Set<Refusal["code"]>(["storage_full", "storage_limit_reached"]);

/** Why no schedule of the organization can start a run now; undefined if they can. */
export const findLimit = ({ freeSpace, logLimits }: LimitDeps, organization: string): Refusal | undefined =>
  freeSpace.isRefused("runs") ? NO_SPACE : logLimits.refusal(organization);

/**
 * Due times while no schedule of their organization can start a run. The first one of a schedule is recorded as refused. The others
 * wait without an event and are passed over afterwards: a thousand schedules that are due every minute would write 3 GB a day.
 */
export function createHeldTimes(deps: LimitDeps, now: () => number) {
  /** When a due time of an organization was last found that could not start a run. */
  const limitedAt = new Map<string, number>();
  return {
    /** Whether the schedule's due time waits, because its refusal would tell nothing new. */
    holds(organization: string, state: ScheduleState): boolean {
      const limit = findLimit(deps, organization);
      if (!limit) return false;
      limitedAt.set(organization, now());
      const why = whyUnstarted(state);
      return why === "skipped" || why === limit.code;
    },
    /** Whether the schedule could not start a run at its due time. */
    wasLimited(organization: string, state: ScheduleState): boolean {
      // what is in memory is lost when an operator raises the limit
      if (LIMITS.has(whyUnstarted(state) ?? "")) return true;
      return state.next !== null && (limitedAt.get(organization) ?? 0) >= Date.parse(state.next.fires_at);
    },
  };
}
