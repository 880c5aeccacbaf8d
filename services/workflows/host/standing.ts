import { streamOf } from "#events/ids.ts";
import type { EventLog, StreamHead } from "#events/ports.ts";
import type { Envelope } from "#events/workflow.ts";
import { memberOf } from "../../deciders/members.ts";
import { organization } from "../../deciders/organization.ts";
import { run } from "../../deciders/run.ts";
import { isLive, isRunning, type RunState } from "../../deciders/runState.ts";
import { workflow, type WorkflowState } from "../../deciders/workflow.ts";
import { stateOf } from "../../states.ts";
import { StepFailure } from "../tick.ts";
import type { AskingStep } from "./step.ts";

/** How an attempt and what bounds it stand at this moment. */
export interface Standing {
  /** The run goes on; an attempt that was running when it ended finishes, and may do less meanwhile. */
  live: boolean;
  /** Of a run that goes on. */
  project_id: string | null;
  envelope: Envelope;
  /** Heads of the other streams that were asked for. */
  heads: Map<string, StreamHead>;
}

async function isActive(
  log: Pick<EventLog, "read">,
  people: StreamHead | undefined,
  id: string | null,
): Promise<boolean> {
  if (!people || id === null) return false;
  const { state } = await stateOf(log, people, organization);
  return state.status === "active" && memberOf(state.members, id)?.active === true;
}

/**
 * What the log says at this moment, in one query: an edit of the envelope, a cancel, a removed secret and the deactivation of
 * the person that the run acts for hold from the next use on. Throws StepFailure where the attempt is not the one that runs.
 */
export async function standing(
  log: Pick<EventLog, "heads" | "read">,
  { organization_id, run_id, workflow_id, key, attempt, epoch, worker, run_as, recorded }: AskingStep,
  others: string[] = [],
): Promise<Standing> {
  await recorded();
  const streams = { run: streamOf("run", run_id), workflow: streamOf("workflow", workflow_id) };
  const people = streamOf("organization", organization_id);
  const heads = await log.heads([
    streams.run,
    streams.workflow,
    ...(run_as.type === "person" ? [people] : []),
    ...others,
  ]);
  const [of, within] = [heads.get(streams.run), heads.get(streams.workflow)];
  const state: RunState = of ? (await stateOf(log, of, run)).state : run.initial;
  const rules: WorkflowState = within ? (await stateOf(log, within, workflow)).state : workflow.initial;
  if (!isRunning(state, key, attempt, { epoch, worker }) || rules.status === "absent")
    throw new StepFailure(
      "runner_lost",
      "This attempt is not the one that runs: the step was given to another process.",
    );
  if (run_as.type === "person" && !(await isActive(log, heads.get(people), run_as.id)))
    throw new StepFailure(
      "run_as_inactive",
      "The person that the run acts for is not active in the organization any more: its steps may ask nothing of the platform.",
      { final: true },
    );
  const live = isLive(state);
  return { live, project_id: live ? state.project_id : null, envelope: rules.envelope, heads };
}

/** As `standing`, for what nobody does any more for a run that has ended. */
export async function liveStanding(...asked: Parameters<typeof standing>): Promise<Standing> {
  const found = await standing(...asked);
  if (found.live) return found;
  throw new StepFailure("run_ended", "The run has ended: its steps may ask nothing more of the platform.", {
    final: true,
  });
}
