import { streamName } from "#events/ids.ts";
import type { Refusal } from "#events/runLinks.ts";
import { setterOf } from "#events/runOrigin.ts";
import { SCHEDULE_SET_BY, ScheduleChanged, ScheduleCreated, scheduledRunCommandId } from "#events/schedule.ts";
import { runAt, type ScheduleState } from "../deciders/scheduleState.ts";
import { sendTo, type Target } from "../send.ts";
import { cancelNewestRun } from "../workflows/newestRun.ts";
import { findWorkflow, startWorkflowRun, type StartDeps } from "../workflows/startRun.ts";

/** JSON of the arguments. Undefined when the trigger was deleted meanwhile. */
async function readArgs({ log }: StartDeps, { stream }: Target, { args_version }: ScheduleState) {
  const types = [ScheduleCreated.type, ScheduleChanged.type];
  // one event, which is small: the limit of bytes never cuts it
  const [event] = await log.readNewest(stream, { before: args_version + 1, types, limit: 1, bytes: 1 });
  return (event?.personal as { args: string } | undefined)?.args;
}

/** Who answers for the schedule as it is. */
async function readSetter({ log }: StartDeps, { stream }: Target, { version }: ScheduleState) {
  const query = { before: version + 1, types: [...SCHEDULE_SET_BY], limit: 1, bytes: 1 };
  const [event] = await log.readNewest(stream, query);
  return event && setterOf(event.meta.principal);
}

async function cancelRun({ log, handle, worker }: StartDeps, trigger_id: string, run_id: string) {
  const by = { type: "schedule" as const, id: trigger_id };
  const deps = { log, send: sendTo(handle, worker) };
  await cancelNewestRun(deps, run_id, { by, reason: "The schedule starts its next run." });
}

/**
 * Starts the run that is decided for a due time, once: its id derives from the trigger and the due time. Answers why it was
 * refused, if it was. Throws Unavailable.
 */
export async function startScheduledRun(
  deps: StartDeps,
  target: Target,
  state: ScheduleState,
  { due_at, cancels }: NonNullable<ScheduleState["starting"]>,
): Promise<Refusal | undefined> {
  const { trigger_id, run_as } = state;
  const run_id = runAt(state, due_at);
  const stream = streamName("run", run_id);
  // it was started by a process that was lost before it could record it
  if ((await deps.log.heads([stream])).has(stream)) return undefined;
  const workflow = await findWorkflow(deps, target.organization_id, state.workflow_id);
  if (!workflow) return { code: "workflow_not_found", message: "The workflow no longer exists." };
  const args = await readArgs(deps, target, state);
  if (args === undefined) return { code: "trigger_not_found", message: "The trigger was deleted." };
  return startWorkflowRun(deps, workflow, {
    run_id,
    trigger_id,
    started_by: { type: "schedule", id: trigger_id },
    trigger_set_by: await readSetter(deps, target, state),
    run_as,
    args,
    commandId: (attempt) => scheduledRunCommandId(trigger_id, due_at, attempt),
    async beforeStart() {
      if (cancels) await cancelRun(deps, trigger_id, cancels);
    },
  });
}
