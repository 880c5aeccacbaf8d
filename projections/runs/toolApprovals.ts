import type { RecordedEvent } from "#events/envelope.ts";
import { parseStreamName } from "#events/ids.ts";
import type { ThreadEvent } from "#events/thread.ts";
import { encode, type Change, type Row } from "../projection.ts";
import { encodeAssignees } from "./assignees.ts";

/* Approvals of tool calls, in the same table as those that runs ask for. */

export type ToolApprovalEvent = Extract<
  ThreadEvent,
  {
    type:
      | "ToolApprovalRequested"
      | "ToolApprovalDecided"
      | "ToolApprovalExpired"
      | "ToolApprovalCancelled"
      | "TurnDeleted"
      | "ThreadDeleted";
  }
>;
type EventRecord<T extends ToolApprovalEvent["type"]> = RecordedEvent<Extract<ToolApprovalEvent, { type: T }>>;

const patch = (id: string, row: Row): Change[] => [{ table: "approvals", kind: "patch", key: { id }, row }];

function applyRequest(event: EventRecord<"ToolApprovalRequested">): Change[] {
  const { organization_id, stream, version, data, personal, recorded_at } = event;
  if (!personal) return [];
  const { turn_id, agent_id, project_id, round, call, tool, self_approval, allow_api_key, expires_at } = data;
  return [
    {
      table: "approvals",
      kind: "put",
      key: { id: data.approval_id },
      row: {
        turn_id,
        thread_id: parseStreamName(stream).id,
        agent_id,
        round,
        call,
        asked_by: encode(data.asked_by),
        organization_id,
        project_id,
        version,
        status: "pending",
        name: encode(tool),
        title: encode(`Run the tool ${tool}`),
        assignees: encode(personal.assignees),
        assigned: encodeAssignees(personal.assignees),
        self_approval,
        allow_api_key,
        expires_at: new Date(expires_at),
        created_at: recorded_at,
      },
    },
  ];
}

const applyDecision = ({ data, personal }: EventRecord<"ToolApprovalDecided">): Change[] =>
  patch(data.approval_id, {
    status: data.decision === "approve" ? "approved" : "rejected",
    decision: data.decision,
    comment: encode(personal?.comment),
    decided_by_type: data.by.type,
    decided_by_id: data.by.id,
    ...(data.in_place_of && { decided_for: data.in_place_of }),
    decided_at: new Date(data.at),
  });

const removeWhere = (where: Row): Change[] => [{ table: "approvals", kind: "removeWhere", where }];

export const toolApprovals = {
  ToolApprovalRequested: applyRequest,
  ToolApprovalDecided: applyDecision,
  ToolApprovalExpired: ({ data }: EventRecord<"ToolApprovalExpired">) => patch(data.approval_id, { status: "expired" }),
  ToolApprovalCancelled: ({ data }: EventRecord<"ToolApprovalCancelled">) =>
    patch(data.approval_id, { status: "cancelled" }),
  TurnDeleted: ({ stream, data: { turn_id } }: EventRecord<"TurnDeleted">) =>
    removeWhere({ thread_id: parseStreamName(stream).id, turn_id }),
  ThreadDeleted: ({ stream }: EventRecord<"ThreadDeleted">) => removeWhere({ thread_id: parseStreamName(stream).id }),
};
