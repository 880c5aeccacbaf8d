import { isLive } from "../deciders/runState.ts";
import type { History } from "./history.ts";
import type { Script } from "./script.ts";
import type { TickCall } from "./tick.ts";

/** A tick of a run as it stands. */
export function tickCall(history: History, { js, sha256, catches }: Script): TickCall {
  const { organization_id, created, args, memo, state } = history;
  const { run_id, created_at, run_as, limits } = created;
  // a step that is asked for before a pending approval would be taken to be all that is asked for: the approval was given up
  const isAsking = isLive(state) && Object.keys(state.approvals).length > 0;
  return {
    organization_id,
    run_id,
    js,
    sha256,
    args,
    created_at: Date.parse(created_at),
    now: Date.now(),
    memo,
    ...(!catches && !isAsking && { ahead: { run_as, max_result_bytes: limits.max_result_bytes } }),
  };
}
