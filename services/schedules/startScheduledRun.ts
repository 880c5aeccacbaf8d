import type { Command } from "#events/envelope.ts";
import { streamName } from "#events/ids.ts";
import type { FreeSpace } from "#events/freeSpace.ts";
import type { EventLog } from "#events/ports.ts";
import type { Refusal } from "#events/runLinks.ts";
import { findActor } from "#events/runOrigin.ts";
import { SCHEDULE_SET_BY, scheduledRunCommandId } from "#events/schedule.ts";
import { runIdAt, type ScheduleState } from "../deciders/scheduleState.ts";
import { sendTo, type CommandTarget } from "../send.ts";
import { cancelNewestRun } from "../workflows/newestRun.ts";
import { findWorkflow, startWorkflowRun, type StartDeps } from "../workflows/startRun.ts";
import { findLimit } from "./heldTimes.ts";

export interface ScheduledStartDeps extends StartDeps {
  log: StartDeps["log"] & Pick<EventLog, "event" | "readNewest">;
  freeSpace: FreeSpace;
}

/** The newest event by a person who answers for the schedule. */
async function readSetter({ log }: ScheduledStartDeps, { stream }: CommandTarget, { version, set }: ScheduleState) {
  if (set?.seen === version) return log.event(stream, set.version);
  // For states of earlier releases. Reads a single small event, so the byte limit never cuts it.
  const query = { before: version + 1, types: [...SCHEDULE_SET_BY], limit: 1, bytes: 1 };
  return (await log.readNewest(stream, query))[0];
}

/** JSON of the arguments, and who answers for the schedule. Undefined if the trigger was deleted meanwhile. */
async function readStart(deps: ScheduledStartDeps, target: CommandTarget, state: ScheduleState) {
  const set = await readSetter(deps, target, state);
  const isOfArgs = set?.version === state.args_version;
  const given = isOfArgs ? set : await deps.log.event(target.stream, state.args_version);
  const args = (given?.personal as { args: string } | undefined)?.args;
  return args === undefined ? undefined : { args, trigger_set_by: set && findActor(set.meta.principal) };
}

async function exists({ log }: StartDeps, run_id: string): Promise<boolean> {
  const stream = streamName("run", run_id);
  return (await log.heads([stream])).has(stream);
}

async function cancelRun({ log, handle, worker }: StartDeps, trigger_id: string, run_id: string) {
  const by = { type: "schedule" as const, id: trigger_id };
  const deps = { log, send: sendTo(handle, worker) };
  await cancelNewestRun(deps, run_id, { by, reason: "The schedule starts its next run." });
}

/**
 * Starts the run of a due time. Idempotent, because its id derives from the trigger and the due time. Returns the refusal, if any.
 * `joined`: commands that take effect in the same commit. Throws Unavailable.
 */
export async function startScheduledRun(
  deps: ScheduledStartDeps,
  target: CommandTarget,
  state: ScheduleState,
  { due_at, cancels, joined }: NonNullable<ScheduleState["starting"]> & { joined?: Command[] },
): Promise<Refusal | undefined> {
  const { trigger_id, run_as } = state;
  const run_id = runIdAt(state, due_at);
  const [isStarted, workflow, start] = await Promise.all([
    exists(deps, run_id),
    findWorkflow(deps, target.organization_id, state.workflow_id),
    readStart(deps, target, state),
  ]);
  // Another process started it, and was lost before it recorded that.
  if (isStarted) return joined && { code: "run_exists", message: "The run exists already." };
  // before any other reason, which would be recorded again at each due time
  const limit = findLimit(deps, target.organization_id);
  if (limit) return limit;
  if (!workflow) return { code: "workflow_not_found", message: "The workflow no longer exists." };
  if (!start) return { code: "trigger_not_found", message: "The trigger was deleted." };
  return startWorkflowRun(deps, workflow, {
    run_id,
    trigger_id,
    started_by: { type: "schedule", id: trigger_id },
    ...start,
    run_as,
    commandId: (attempt) => scheduledRunCommandId(trigger_id, due_at, attempt),
    joined,
    beforeStart: cancels === null ? undefined : () => cancelRun(deps, trigger_id, cancels),
  });
}
