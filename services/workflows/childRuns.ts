import type { EventFrom } from "#events/define.ts";
import { deriveCommandId, isUuid, streamName } from "#events/ids.ts";
import type { StartableWorkflow } from "#events/newRun.ts";
import type { RunCreated } from "#events/run.ts";
import { askerOf } from "#events/runOrigin.ts";
import type { Refusal } from "#events/runLinks.ts";
import { run as runDecider } from "../deciders/run.ts";
import { isLive } from "../deciders/runState.ts";
import { findState } from "../states.ts";
import { isListed } from "./host/envelopeRules.ts";
import { findWorkflow, START_TIMEOUT_MS, startWorkflowRun, type StartDeps } from "./startRun.ts";

/** Maximum length of a chain of runs that start each other, not counting the first. It stops a workflow that starts itself. */
const MAX_DEPTH = 10;

/** A run that starts another one. */
export interface StartingRun {
  organization_id: string;
  created: EventFrom<typeof RunCreated>["data"];
}

/** A child run that a call of `run()` asks for. */
export interface NewChildRun {
  child_run_id: string;
  /** The id or the name of its workflow. */
  workflow: string;
  /** JSON. */
  args: string;
}

/** Starts a child run. Idempotent. Returns the refusal, if any. Throws Unavailable. */
export type StartChildRun = (starter: StartingRun, child: NewChildRun) => Promise<Refusal | undefined>;

export interface ChildRunDeps extends StartDeps {
  /** Ids of the enabled workflows with this name. */
  findWorkflowIds(organization: string, name: string): Promise<string[]>;
}

const refuse = (code: string, message: string): Refusal => ({ code, message });

/** A workflow of a project starts only workflows of the same project. */
const isReachable = ({ created }: StartingRun, { project_id }: StartableWorkflow): boolean =>
  created.project_id === null || created.project_id === project_id;

/** Reads the starter's own workflow and those a call names, in one query. Refuses a starter that has ended. */
async function readStart(deps: ChildRunDeps, { organization_id, created }: StartingRun, name: string) {
  const ids = isUuid(name) ? [name.toLowerCase()] : await deps.findWorkflowIds(organization_id, name);
  const find = (id: string) => findWorkflow(deps, organization_id, id);
  const [refusal, own, named] = await Promise.all([
    refuseEnded(deps, created.run_id),
    find(created.workflow_id),
    Promise.all(ids.map(find)),
  ]);
  return { refusal, own, named: named.filter((one) => one !== undefined) };
}

/** The workflow that a call names, or why there is none. */
function pickReachable(starter: StartingRun, named: StartableWorkflow[], name: string): StartableWorkflow | Refusal {
  const reachable = named.filter((one) => isReachable(starter, one));
  if (reachable.length > 1)
    return refuse("workflow_ambiguous", `${reachable.length} workflows have the name ${name}: use an id.`);
  return reachable[0] ?? refuse("workflow_not_found", `There is no workflow ${name} that this one can reach.`);
}

/** Why the envelope of the starter's workflow forbids the start. */
function checkAllowed(
  { created }: StartingRun,
  own: StartableWorkflow | undefined,
  child: StartableWorkflow,
): Refusal | undefined {
  if ((created.starter?.depth ?? 0) >= MAX_DEPTH)
    return refuse("run_depth_exceeded", `${MAX_DEPTH} runs in a row have started each other, which is the limit.`);
  // Optional, because envelopes of earlier releases lack it.
  if (own && isListed(own.envelope.workflows ?? ["*"], child.id)) return undefined;
  return refuse("workflow_not_allowed", `The workflow ${child.id} is not in the workflow's envelope.workflows.`);
}

/**
 * A run that has ended must start no other run. Before it is destroyed, `settleRun` waits a minute for starts in progress; a
 * process suspended for longer would start a run that nothing leads to. So a start takes effect within START_TIMEOUT_MS of this
 * check, or never.
 */
async function refuseEnded({ log }: ChildRunDeps, run_id: string): Promise<Refusal | undefined> {
  const stream = streamName("run", run_id);
  return isLive(await findState(log, stream, runDecider))
    ? undefined
    : refuse("run_ended", "The run that starts it has ended.");
}

async function startChildRun(
  deps: ChildRunDeps,
  starter: StartingRun,
  { child_run_id, workflow: name, args }: NewChildRun,
): Promise<Refusal | undefined> {
  const { run_id, starter: first, user_mark } = starter.created;
  const start_by = performance.now() + START_TIMEOUT_MS;
  const { refusal, own, named } = await readStart(deps, starter, name);
  if (refusal) return refusal;
  const workflow = pickReachable(starter, named, name);
  if ("code" in workflow) return workflow;
  const forbidden = checkAllowed(starter, own, workflow);
  if (forbidden) return forbidden;
  return startWorkflowRun(deps, workflow, {
    run_id: child_run_id,
    trigger_id: null,
    started_by: { type: "run", id: run_id },
    run_as: null,
    args,
    commandId: (attempt) => deriveCommandId("child-run", child_run_id, attempt),
    start_by,
    more: {
      starter: { run_id, depth: (first?.depth ?? 0) + 1, by: askerOf(starter.created) },
      // its costs count for the same external user
      ...(user_mark !== undefined && { user_mark }),
    },
  });
}

export const createChildRuns =
  (deps: ChildRunDeps): StartChildRun =>
  async (starter, child) => {
    const refusal = await startChildRun(deps, starter, child);
    if (!refusal) return undefined;
    const stream = streamName("run", child.child_run_id);
    // The refusal may be too late: another process may have started the run, and been lost before it recorded that.
    return (await deps.log.heads([stream])).has(stream) ? undefined : refusal;
  };
