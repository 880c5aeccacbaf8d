import { z } from "zod";
import { defineCommand, defineEvent, type CommandsIn, type EventsIn } from "./language.ts";
import { streamName } from "./ids.ts";
import { AbsentDelegates, Actor, RunFiles } from "./runOrigin.ts";

/* What people do with an approval besides deciding it (ADR 64). The events are part of the run's stream. */

export const MAX_REASON = 1_000;
export const MAX_COMMENT = 2_000;
const Approval = z.object({ run_id: z.uuid(), approval_id: z.uuid(), by: Actor });
const Delegation = Approval.extend({
  /** The person who may decide instead of `by` from now on. */
  to: z.uuid(),
});
const Reason = z.object({ reason: z.string().max(MAX_REASON) });
const Comment = Approval.extend({ comment_id: z.uuid(), files: RunFiles.optional() });
const Text = z.object({ text: z.string().max(MAX_COMMENT) });

export const DelegateApproval = defineCommand(
  "DelegateApproval",
  "run",
  Delegation.extend({ ...Reason.shape, ...AbsentDelegates.shape }),
);
export const CommentOnApproval = defineCommand("CommentOnApproval", "run", Comment.extend(Text.shape));

const thing = (data: { run_id: string }) => streamName("run", data.run_id);
export const ApprovalDelegated = defineEvent("ApprovalDelegated", { public: Delegation, personal: Reason, thing });
export const ApprovalCommented = defineEvent("ApprovalCommented", { public: Comment, personal: Text, thing });

export type ApprovalPeopleCommand = CommandsIn<typeof import("./approvalPeople.ts")>;
export type ApprovalPeopleEvent = EventsIn<typeof import("./approvalPeople.ts")>;
