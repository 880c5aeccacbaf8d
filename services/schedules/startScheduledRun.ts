import { streamName } from "#events/ids.ts";
import type { Refusal } from "#events/runLinks.ts";
import { setterOf } from "#events/runOrigin.ts";
import { SCHEDULE_SET_BY, ScheduleChanged, ScheduleCreated, scheduledRunCommandId } from "#events/schedule.ts";
import { runAt, type ScheduleState } from "../deciders/scheduleState.ts";
import { sendTo, type Target } from "../send.ts";
import { cancelNewestRun } from "../workflows/newestRun.ts";
import { findWorkflow, startWorkflowRun, type StartDeps } from "../workflows/startRun.ts";

const newest = async ({ log }: StartDeps, { stream }: Target, version: number, types: string[]) =>
  // one event, which is small: the limit of bytes never cuts it
  (await log.readNewest(stream, { before: version + 1, types, limit: 1, bytes: 1 }))[0];

/** JSON of the arguments, and who answers for the schedule as it is. Undefined when the trigger was deleted meanwhile. */
async function readStart(deps: StartDeps, target: Target, { version, args_version }: ScheduleState) {
  const set = await newest(deps, target, version, [...SCHEDULE_SET_BY]);
  const isOfArgs = set?.version === args_version;
  const given = isOfArgs ? set : await newest(deps, target, args_version, [ScheduleCreated.type, ScheduleChanged.type]);
  const args = (given?.personal as { args: string } | undefined)?.args;
  return args === undefined ? undefined : { args, trigger_set_by: set && setterOf(set.meta.principal) };
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
  const start = await readStart(deps, target, state);
  if (!start) return { code: "trigger_not_found", message: "The trigger was deleted." };
  return startWorkflowRun(deps, workflow, {
    run_id,
    trigger_id,
    started_by: { type: "schedule", id: trigger_id },
    ...start,
    run_as,
    commandId: (attempt) => scheduledRunCommandId(trigger_id, due_at, attempt),
    async beforeStart() {
      if (cancels) await cancelRun(deps, trigger_id, cancels);
    },
  });
}
