import { currentTime } from "#events/clock.ts";
import { deriveId } from "#events/ids.ts";
import type { FramePayload } from "#events/ports.ts";
import type { Usage } from "#events/thread.ts";
import type { WaitingCall } from "./converse.ts";
import { costOf, type TurnBudgets } from "./turnBudgets.ts";
import type { Round } from "./round.ts";
import { TurnLost, type createStepRecorder } from "./steps.ts";
import type { TurnToRun } from "./turnToRun.ts";

export interface ToolApprovalOptions {
  /** How long approvals wait if the agent does not say. */
  default_seconds: number;
  /** Turns of one organization that may wait for people at the same time. */
  max_parked: number;
  /** The number of an organization's waiting turns, from the read model. */
  countParked(organization: string): Promise<number>;
  /** Whether an agent exists, from the read model. */
  hasAgent(organization: string, id: string): Promise<boolean>;
}
interface ParkOptions {
  toolApprovals: ToolApprovalOptions;
  budgets: Pick<TurnBudgets, "notePark">;
}

interface ParkedTurn {
  round: number;
  calls: WaitingCall[];
  rounds: Round[];
  /** Usage of its requests whose answers were not used. */
  replaced: { usage: Usage }[];
  /** All frames that readers received so far. */
  frames: FramePayload[];
}

type Recorder = Pick<ReturnType<typeof createStepRecorder>, "storeFrames" | "recordPark">;

/**
 * Requests approvals for calls and releases the turn: TurnLost ends this attempt, and the last decision starts the next one. If too
 * many turns wait, returns the reason, worded for the model.
 */
export async function parkTurn(
  { toolApprovals, budgets }: ParkOptions,
  turn: TurnToRun,
  recorder: Recorder,
  { round, calls, rounds, replaced, frames }: ParkedTurn,
): Promise<string> {
  const { default_seconds, max_parked, countParked, hasAgent } = toolApprovals;
  const { organization_id, turn_id, agent, asked_by, project_id } = turn;
  if (!agent) return "Only an agent can wait for the approval of a person. The call did not run.";
  if (!(await hasAgent(organization_id, agent.agent_id))) return "The agent was deleted. The call did not run.";
  if ((await countParked(organization_id)) >= max_parked)
    return `This call needs the approval of a person, and ${max_parked} others wait already. It did not run; it may be tried again later.`;
  const now = currentTime();
  await recorder.recordPark({
    agent_id: agent.agent_id,
    project_id,
    asked_by,
    frames: await recorder.storeFrames(frames),
    approvals: calls.map(({ n, call, approval }) => {
      const { assignees, self_approval, allow_api_key, expires_in_seconds } = approval;
      return {
        approval_id: deriveId("approval of a call", turn_id, String(round), String(n)),
        round,
        call: n,
        tool: call.name,
        assignees,
        self_approval,
        allow_api_key,
        expires_at: new Date(now + (expires_in_seconds ?? default_seconds) * 1_000).toISOString(),
      };
    }),
  });
  await budgets.notePark(turn, costOf([...replaced, ...rounds]));
  throw new TurnLost("it waits for the approval of a call");
}
