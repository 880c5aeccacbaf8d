import type { Command } from "#events/envelope.ts";
import type { EventLog } from "#events/ports.ts";
import { FireSchedule, RecordScheduledRun } from "#events/schedule.ts";
import { isLive } from "../deciders/runState.ts";
import { decideSchedule } from "../deciders/schedule.ts";
import { hasOpenStart, type ScheduleState } from "../deciders/scheduleState.ts";
import { serviceCommand, type CommandTarget } from "../send.ts";
import { readNewestRun } from "../workflows/newestRun.ts";
import { startScheduledRun, type ScheduledStartDeps } from "./startScheduledRun.ts";

/** Whether a schedule's last run is live, or a run that continues it. */
export async function isRunLive(log: Pick<EventLog, "heads" | "read">, run_id: string | null): Promise<boolean> {
  const newest = run_id === null ? undefined : await readNewestRun(log, run_id);
  return newest !== undefined && (newest.isHandingOver || isLive(newest.state));
}

/** The due time whose run the command would start at once: undefined if a run has to be cancelled first, or an earlier start is open. */
function findStart(command: Command, state: ScheduleState): string | undefined {
  const fired = decideSchedule(command as never, state).at(-1);
  if (fired?.type !== "ScheduleFired" || hasOpenStart(state)) return undefined;
  const { action, cancels, due_at } = fired.data;
  return action === "start" && cancels === null ? due_at : undefined;
}

/** Starts the run in the commit of its decision. Returns false if the decision must be recorded alone, because the start may be refused. */
async function startWithDecision(
  deps: ScheduledStartDeps,
  target: CommandTarget,
  state: ScheduleState,
  fire: Command,
): Promise<boolean> {
  const due_at = findStart(fire, state);
  if (due_at === undefined) return false;
  const { trigger_id } = state;
  const record = serviceCommand(deps.worker, target, RecordScheduledRun.type, { trigger_id, due_at, refusal: null });
  const joined = [fire, record];
  return (await startScheduledRun(deps, target, state, { due_at, cancels: null, joined })) === undefined;
}

/**
 * Decides what happens at a schedule's due time. A run that waits for nothing starts in the same commit; otherwise the process that
 * commits ScheduleFired starts it. Does nothing if the schedule has changed; the sweep finds it again if it is still due.
 * `limited`: a limit let no run start when it was due. Throws Unavailable.
 */
export async function handleDueTime(
  deps: ScheduledStartDeps,
  target: CommandTarget,
  { state, limited }: { state: ScheduleState; limited: boolean },
): Promise<void> {
  const { trigger_id, next, run_id, version } = state;
  const [heads, overlaps] = await Promise.all([deps.log.heads([target.stream]), isRunLive(deps.log, run_id)]);
  if (heads.get(target.stream)?.version !== version) return;
  // What was found holds for this version only: an earlier start may be recorded meanwhile.
  const data = { trigger_id, due_at: next!.due_at, overlaps, seen: version, ...(limited && { limited }) };
  const fire = serviceCommand(deps.worker, target, FireSchedule.type, data);
  if (!(await startWithDecision(deps, target, state, fire))) await deps.handle(fire);
}
