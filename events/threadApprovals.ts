import { z } from "zod";
import { defineCommand, defineEvent, type CommandsIn, type EventsIn } from "./language.ts";
import { streamName } from "./ids.ts";
import { Actor, SubstitutedPersonId } from "./runOrigin.ts";
import { Assignee } from "./runParts.ts";
import { Turn, TurnAttempt } from "./turnAttempt.ts";

/* Approvals of tool calls (ADR 48). A turn that waits for them is parked: no worker holds it. */

const Call = z.object({
  round: z.int().nonnegative(),
  /** Index of the call in its round: 0, 1, 2 … */
  call: z.int().nonnegative(),
});
const Terms = Call.extend({
  approval_id: z.uuid(),
  /** Name of the tool. */
  tool: z.string(),
  self_approval: z.boolean(),
  allow_api_key: z.boolean(),
  expires_at: z.iso.datetime(),
});
/** The agent whose call it is, and who asked it. */
const Asker = z.object({
  agent_id: z.uuid(),
  project_id: z.uuid().nullable(),
  /** Who asked the agent. */
  asked_by: Actor,
});
const Assignees = z.object({ assignees: z.array(Assignee).max(50) });
const ToolApprovalId = Turn.extend({ approval_id: z.uuid() });

/** Requests approvals for calls of a round, and releases the turn's worker until all are decided. */
export const ParkTurn = defineCommand(
  "ParkTurn",
  "thread",
  TurnAttempt.extend(Asker.shape).extend({
    approvals: z.array(Terms.extend(Assignees.shape)).min(1),
    /** Key of the blob (JSON) with all frames that readers received so far. */
    frames: z.string(),
  }),
);
export const DecideToolApproval = defineCommand(
  "DecideToolApproval",
  "thread",
  ToolApprovalId.extend({
    decision: z.enum(["approve", "reject"]),
    by: Actor,
    in_place_of: SubstitutedPersonId,
    comment: z.string().nullable(),
  }),
);
/** Expires the approvals of a parked turn that are due. */
export const ExpireToolApprovals = defineCommand("ExpireToolApprovals", "thread", TurnAttempt);
/** Recorded before an approved call runs. */
export const StartTool = defineCommand("StartTool", "thread", TurnAttempt.extend(Call.shape));

const thing = (data: { turn_id: string }) => streamName("turn", data.turn_id);
export const ToolApprovalRequested = defineEvent("ToolApprovalRequested", {
  public: TurnAttempt.extend(Terms.shape).extend(Asker.shape),
  personal: Assignees,
  thing,
});
/** No worker holds the turn until its approvals are decided. */
export const TurnParked = defineEvent("TurnParked", {
  public: TurnAttempt.extend({
    frames: z.string(),
    /** Time that the turn has left when it is resumed. */
    left_ms: z.int().nonnegative(),
  }),
});
export const ToolApprovalDecided = defineEvent("ToolApprovalDecided", {
  public: ToolApprovalId.extend(Call.shape).extend({
    decision: z.enum(["approve", "reject"]),
    by: Actor,
    in_place_of: SubstitutedPersonId,
    at: z.iso.datetime(),
  }),
  personal: z.object({ comment: z.string().nullable() }),
  thing,
});
export const ToolApprovalExpired = defineEvent("ToolApprovalExpired", {
  public: ToolApprovalId.extend(Call.shape),
});
/** The turn ended, or was deleted, before somebody decided. */
export const ToolApprovalCancelled = defineEvent("ToolApprovalCancelled", {
  public: ToolApprovalId.extend(Call.shape),
});
/** All approvals are decided. `worker`: the process that committed this and continues at once; null if it has no capacity. */
export const TurnResumed = defineEvent("TurnResumed", {
  public: TurnAttempt.extend({ worker: z.string().nullable(), ends_by: z.iso.datetime() }),
});
/** After this event the approved call is never made again, even if its process dies before the result is recorded. */
export const ToolStarted = defineEvent("ToolStarted", { public: TurnAttempt.extend(Call.shape) });

export type ThreadApprovalCommand = CommandsIn<typeof import("./threadApprovals.ts")>;
export type ThreadApprovalEvent = EventsIn<typeof import("./threadApprovals.ts")>;
