import { streamName } from "#events/ids.ts";
import type { EventLog, StreamHead } from "#events/ports.ts";
import type { Envelope } from "#events/workflow.ts";
import { findMember } from "../../deciders/members.ts";
import { organization } from "../../deciders/organization.ts";
import { run } from "../../deciders/run.ts";
import { isLive, isRunning, type EndedRun, type LiveRun, type RunState } from "../../deciders/runState.ts";
import { workflow, type WorkflowState } from "../../deciders/workflow.ts";
import { readState } from "../../states.ts";
import { StepFailure } from "../tick.ts";
import { invalidInput } from "./input.ts";
import type { Permissions, StepAttempt } from "./step.ts";

async function isActive(
  log: Pick<EventLog, "read">,
  people: StreamHead | undefined,
  id: string | null,
): Promise<boolean> {
  if (!people || id === null) return false;
  const { state } = await readState(log, people, organization);
  return state.status === "active" && findMember(state.members, id)?.active === true;
}

const inactive = () =>
  new StepFailure(
    "run_as_inactive",
    "The person that the run acts for is no longer active in the organization: its steps can make no platform calls.",
    { final: true },
  );

/** The current rules of a run's workflow. Throws StepFailure if the run's person is no longer active. */
export async function readRunEnvelope(
  log: Pick<EventLog, "heads" | "read">,
  { organization_id, workflow_id, run_as }: Pick<StepAttempt, "organization_id" | "workflow_id" | "run_as">,
): Promise<Envelope> {
  const [rules, people] = [streamName("workflow", workflow_id), streamName("organization", organization_id)];
  const heads = await log.heads([rules, people]);
  const head = heads.get(rules);
  const state: WorkflowState = head ? (await readState(log, head, workflow)).state : workflow.initial;
  if (state.status === "absent") throw invalidInput("agent: the workflow is gone.");
  if (run_as.type === "person" && !(await isActive(log, heads.get(people), run_as.id))) throw inactive();
  return state.envelope;
}

/**
 * Reads an attempt's permissions from the log in one query, so that changes of the envelope, cancellations, removed secrets and
 * deactivated people apply from the next call on. Throws StepFailure if the attempt is not the current one.
 */
export async function readPermissions(
  log: Pick<EventLog, "heads" | "read">,
  { organization_id, run_id, workflow_id, key, attempt, epoch, worker, run_as, ensureRecorded }: StepAttempt,
  others: string[] = [],
): Promise<Permissions> {
  await ensureRecorded();
  const streams = { run: streamName("run", run_id), workflow: streamName("workflow", workflow_id) };
  const people = streamName("organization", organization_id);
  const heads = await log.heads([
    streams.run,
    streams.workflow,
    ...(run_as.type === "person" ? [people] : []),
    ...others,
  ]);
  const [runHead, workflowHead] = [heads.get(streams.run), heads.get(streams.workflow)];
  const state: RunState = runHead ? (await readState(log, runHead, run)).state : run.initial;
  const rules: WorkflowState = workflowHead ? (await readState(log, workflowHead, workflow)).state : workflow.initial;
  if (!isRunning(state, key, attempt, { epoch, worker }) || rules.status === "absent")
    throw new StepFailure("runner_lost", "This attempt is not the current one: another process runs the step.");
  if (run_as.type === "person" && !(await isActive(log, heads.get(people), run_as.id))) throw inactive();
  const { files = [] } = state as LiveRun | EndedRun;
  return { live: isLive(state), files, envelope: rules.envelope, heads };
}
