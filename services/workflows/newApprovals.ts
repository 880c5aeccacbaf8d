import { isLive } from "../deciders/runState.ts";
import type { History } from "./history.ts";
import type { PendingCall, TickOutcome } from "./tick.ts";

export type ApprovalCall = Extract<PendingCall, { kind: "approval" }>;

/** Why an approval cannot be requested. `key`: of its call. */
export interface RefusedApproval {
  key: string;
  message: string;
}

/** The approvals of a tick that are not pending yet. */
export function newApprovals({ state }: History, { pending, end }: TickOutcome): ApprovalCall[] {
  if (end.type !== "suspended") return [];
  const open = new Set(isLive(state) ? Object.values(state.approvals).map(({ key }) => key) : []);
  return pending.filter((call) => call.kind === "approval").filter(({ key }) => !open.has(key));
}
