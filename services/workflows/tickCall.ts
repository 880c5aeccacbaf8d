import { isLive } from "../deciders/runState.ts";
import type { History } from "./history.ts";
import type { Script } from "./script.ts";
import type { TickCall } from "./tick.ts";

const RANKS = { high: 0, low: 2 };
const NORMAL = 1;

/** The rank of a run's calls within its organization. */
export const priorityRank = ({ priority }: Pick<History["created"], "priority">): number =>
  priority === undefined ? NORMAL : RANKS[priority];

/** The runner's call for a run's next tick. */
export function buildTickCall(history: History, { js, sha256, catches, ordered }: Script, now: number): TickCall {
  const { organization_id, created, args, headers, memo, state } = history;
  const { run_id, created_at, run_as, limits, parent } = created;
  const speculation = { run_as, max_result_bytes: limits.max_result_bytes, effects_of: parent?.effects_of };
  // A tick that speculates ends at the step that it executes. It would not reach a pending approval after the step, and the
  // approval would count as superseded.
  const hasApprovals = isLive(state) && Object.keys(state.approvals).length > 0;
  return {
    organization_id,
    rank: priorityRank(created),
    run_id,
    js,
    sha256,
    args,
    headers,
    seen_as: parent?.seen_as.run_id,
    created_at: Date.parse(parent?.seen_as.created_at ?? created_at),
    now,
    memo,
    ordered,
    ...(!catches && !hasApprovals && { speculation }),
  };
}
