import {
  ApprovalCommented,
  ApprovalDelegated,
  type CommentOnApproval,
  type DelegateApproval,
} from "#events/approvalPeople.ts";
import type { CommandFrom } from "#events/envelope.ts";
import { Rejection } from "#events/rejection.ts";
import type { RunEvent } from "#events/run.ts";
import { alreadyVoted, checkRoomForFiles, findVote, hasDelegated, requirePending } from "./runApprovals.ts";
import type { RunState } from "./runState.ts";

/* Both are part of the run's state. */
const MAX_DELEGATIONS = 20;
const MAX_COMMENTS = 100;

/** The route has checked who may decide. This checks what may have changed since. */
export function delegateApproval({ data, at }: CommandFrom<typeof DelegateApproval>, state: RunState): RunEvent[] {
  const { reason, absent, ...delegation } = data;
  const { by, to } = data;
  const approval = requirePending(state, data.approval_id, at);
  const { delegations = [] } = approval;
  if (delegations.length >= MAX_DELEGATIONS)
    throw new Rejection("too_many_delegations", `An approval is delegated ${MAX_DELEGATIONS} times at most.`);
  if (by.id === to) throw new Rejection("invalid_delegate", "to: must be somebody else.", { param: "to" });
  if (findVote(approval, by)) throw alreadyVoted("You have voted on this approval, so you cannot delegate it.");
  if (findVote(approval, { type: "person", id: to }))
    throw new Rejection("invalid_delegate", "to: this person has voted on the approval already.", { param: "to" });
  if (hasDelegated(approval, by, absent))
    throw new Rejection("approver_not_allowed", "You have delegated this approval to somebody else.");
  return [ApprovalDelegated.of(delegation, { reason })];
}

export function commentOnApproval({ data, at }: CommandFrom<typeof CommentOnApproval>, state: RunState): RunEvent[] {
  const { text, ...comment } = data;
  const { comments = 0 } = requirePending(state, data.approval_id, at);
  if (comments >= MAX_COMMENTS)
    throw new Rejection("too_many_comments", `An approval has ${MAX_COMMENTS} comments at most.`);
  checkRoomForFiles(state, data.files);
  return [ApprovalCommented.of(comment, { text })];
}
