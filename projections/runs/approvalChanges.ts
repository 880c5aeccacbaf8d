import type { RecordedEvent } from "#events/envelope.ts";
import type { RunEvent } from "#events/run.ts";
import type { ThreadEvent } from "#events/thread.ts";
import { encode, patchRow, type Change, type Row } from "../projection.ts";
import { encodeAssignees } from "./assignees.ts";

/* Changes that approvals of runs and of agents' tool calls, which share a table, have in common. */

type ApprovalEvent = RunEvent | ThreadEvent;
type RequestEvent = Extract<ApprovalEvent, { type: "ApprovalRequested" | "ToolApprovalRequested" }>;
type DecisionEvent = Extract<ApprovalEvent, { type: "ApprovalDecided" | "ToolApprovalDecided" }>;

export const patchApproval = (id: string, row: Row): Change[] => [patchRow("approvals", id, row)];

/** A pending approval. */
export const pendingRow = (
  { organization_id, version, data, recorded_at }: RecordedEvent<RequestEvent>,
  assignees: Parameters<typeof encodeAssignees>[0],
): Row => ({
  organization_id,
  project_id: data.project_id,
  version,
  status: "pending",
  assignees: encode(assignees),
  assigned: encodeAssignees(assignees),
  self_approval: data.self_approval,
  allow_api_key: data.allow_api_key,
  expires_at: new Date(data.expires_at),
  created_at: recorded_at,
});

/** The changes of a decided approval. `more`: further columns. */
export const decideApproval = ({ data, personal }: RecordedEvent<DecisionEvent>, more: Row = {}): Change[] =>
  patchApproval(data.approval_id, {
    status: data.decision === "approve" ? "approved" : "rejected",
    decision: data.decision,
    comment: encode(personal?.comment),
    decided_by_type: data.by.type,
    decided_by_id: data.by.id,
    ...(data.in_place_of && { decided_for: data.in_place_of }),
    decided_at: new Date(data.at),
    ...more,
  });
