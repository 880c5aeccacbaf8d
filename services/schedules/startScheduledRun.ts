import { newCommand, type CommandResult } from "#events/envelope.ts";
import { claimStream, streamName } from "#events/ids.ts";
import { MAX_SLOT_ATTEMPTS, runSettings, slotClaim, slotNames, type StartableWorkflow } from "#events/newRun.ts";
import type { EventLog, SchemaChecker } from "#events/ports.ts";
import { CancelRun, StartRun } from "#events/run.ts";
import { ScheduleChanged, ScheduleCreated, scheduledRunCommandId } from "#events/schedule.ts";
import type { Keyring } from "#events/vault.ts";
import { violationMessage } from "#events/violationMessage.ts";
import { runAt, type ScheduleState } from "../deciders/scheduleState.ts";
import { workflow as workflowDecider, type WorkflowState } from "../deciders/workflow.ts";
import type { Handle } from "../handle.ts";
import type { Target } from "../send.ts";
import { readState } from "../states.ts";
import { ScriptGone, type ScriptStore } from "../workflows/script.ts";

/** How long the log may be unavailable before the outcome of a command counts as unknown. */
const TIMEOUT_MS = 10_000;

export interface StartDeps {
  log: Pick<EventLog, "heads" | "read" | "readNewest">;
  handle: Handle;
  worker: string;
  scripts: ScriptStore;
  schemas: SchemaChecker;
  keyring: Pick<Keyring, "keyedHash">;
}

/** Why no run was started, for the one who manages the schedule. */
interface Refusal {
  code: string;
  message: string;
}

async function findWorkflow(
  { log }: StartDeps,
  { organization_id }: Target,
  id: string,
): Promise<StartableWorkflow | undefined> {
  const stream = streamName("workflow", id);
  const head = (await log.heads([stream])).get(stream);
  if (head?.organization_id !== organization_id) return undefined;
  const { state }: { state: WorkflowState } = await readState(log, head, workflowDecider);
  return state.status === "registered" ? { ...state, id, organization_id } : undefined;
}

/** JSON of the arguments. Undefined when the trigger was deleted meanwhile. */
async function readArgs({ log }: StartDeps, { stream }: Target, { args_version }: ScheduleState) {
  const types = [ScheduleCreated.type, ScheduleChanged.type];
  // one event, which is small: the limit of bytes never cuts it
  const [event] = await log.readNewest(stream, { before: args_version + 1, types, limit: 1, bytes: 1 });
  return (event?.personal as { args: string } | undefined)?.args;
}

async function checkArgs(
  { scripts, schemas }: StartDeps,
  workflow: StartableWorkflow,
  args: Record<string, unknown>,
): Promise<Refusal | undefined> {
  try {
    const { args_schema } = await scripts(workflow);
    const violation = await schemas.check(workflow.organization_id, args_schema, args);
    if (!violation) return undefined;
    return { code: "invalid_args", message: violationMessage(`args${violation.pointer}`, violation) };
  } catch (error) {
    if (!(error instanceof ScriptGone)) throw error;
    return { code: "definition_not_found", message: error.message };
  }
}

/** A free slot at random, null when the workflow has no concurrency limit, undefined when all slots are taken. */
async function pickSlot(
  { log, keyring }: StartDeps,
  workflow: StartableWorkflow,
  args: Record<string, unknown>,
): Promise<string | null | undefined> {
  const { concurrency } = workflow.envelope;
  if (!concurrency) return null;
  const slots = slotNames(keyring.keyedHash, workflow, concurrency, args);
  const claims = await log.heads(slots.map((slot) => claimStream(slotClaim(slot))));
  const free = slots.filter((slot) => !claims.get(claimStream(slotClaim(slot)))?.state);
  return free[Math.floor(Math.random() * free.length)];
}

const tooMany = ({ envelope }: StartableWorkflow): Refusal => ({
  code: "too_many_live_runs",
  message: `The workflow has ${envelope.concurrency!.max_runs} live runs, which is its limit.`,
});

/** Sends StartRun, with another slot while others take the free ones. */
async function sendStart(
  deps: StartDeps,
  workflow: StartableWorkflow,
  state: ScheduleState,
  { due_at, json }: { due_at: string; json: string },
): Promise<Refusal | undefined> {
  const { trigger_id } = state;
  const run_id = runAt(state, due_at);
  const args = JSON.parse(json) as Record<string, unknown>;
  const started_by = { type: "schedule" as const, id: trigger_id };
  const run_as = state.run_as ?? workflow.envelope.run_as;
  const settings = runSettings(workflow, { run_id, trigger_id, started_by, run_as });
  for (let attempt = 0; attempt < MAX_SLOT_ATTEMPTS; attempt++) {
    const slot = await pickSlot(deps, workflow, args);
    if (slot === undefined) break;
    const { rejection }: CommandResult = await deps.handle(
      newCommand(StartRun.type, {
        id: scheduledRunCommandId(trigger_id, due_at, attempt),
        stream: streamName("run", run_id),
        organization_id: workflow.organization_id,
        request_id: deps.worker,
        timeout_ms: TIMEOUT_MS,
        fresh: true,
        data: { ...settings, args: { json }, external_user_id: null, slot },
      }),
    );
    if (!rejection || rejection.code === "run_exists") return undefined;
    if (rejection.code !== "slot_taken") return { code: rejection.code, message: rejection.message };
  }
  return tooMany(workflow);
}

async function cancelRun({ handle, worker }: StartDeps, target: Target, trigger_id: string, run_id: string) {
  const { organization_id } = target;
  const by = { type: "schedule" as const, id: trigger_id };
  const data = { run_id, by, reason: "The schedule starts its next run." };
  const stream = streamName("run", run_id);
  // refused when the run has ended by itself
  await handle(
    newCommand(CancelRun.type, { stream, organization_id, request_id: worker, timeout_ms: TIMEOUT_MS, data }),
  );
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
  const stream = streamName("run", runAt(state, due_at));
  // it was started by a process that was lost before it could record it
  if ((await deps.log.heads([stream])).has(stream)) return undefined;
  const workflow = await findWorkflow(deps, target, state.workflow_id);
  if (!workflow) return { code: "workflow_not_found", message: "The workflow no longer exists." };
  if (!workflow.enabled)
    return {
      code: "workflow_disabled",
      message: "The workflow is disabled; it can start no runs until it is enabled.",
    };
  const json = await readArgs(deps, target, state);
  if (json === undefined) return { code: "trigger_not_found", message: "The trigger was deleted." };
  const refusal = await checkArgs(deps, workflow, JSON.parse(json));
  if (refusal) return refusal;
  if (cancels) await cancelRun(deps, target, state.trigger_id, cancels);
  return sendStart(deps, workflow, state, { due_at, json });
}
