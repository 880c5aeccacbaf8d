import type { RecordedEvent } from "#events/envelope.ts";
import { parseStreamName } from "#events/ids.ts";
import type { ThreadEvent } from "#events/thread.ts";
import { encode, putRow, removeRows, type Change, type Row } from "../projection.ts";
import { decideApproval, patchApproval, pendingRow } from "./approvalChanges.ts";

/* Projects approvals of tool calls into the table of the runs' approvals. */

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

function applyRequest(event: EventRecord<"ToolApprovalRequested">): Change[] {
  const { stream, data, personal } = event;
  if (!personal) return [];
  const { turn_id, agent_id, round, call, tool } = data;
  return [
    putRow("approvals", data.approval_id, {
      ...pendingRow(event, personal.assignees),
      turn_id,
      thread_id: parseStreamName(stream).id,
      agent_id,
      round,
      call,
      asked_by: encode(data.asked_by),
      name: encode(tool),
      title: encode(`Run the tool ${tool}`),
    }),
  ];
}

const removeWhere = (where: Row): Change[] => [removeRows("approvals", where)];

export const toolApprovals = {
  ToolApprovalRequested: applyRequest,
  ToolApprovalDecided: (event: EventRecord<"ToolApprovalDecided">) => decideApproval(event),
  ToolApprovalExpired: ({ data }: EventRecord<"ToolApprovalExpired">) =>
    patchApproval(data.approval_id, { status: "expired" }),
  ToolApprovalCancelled: ({ data }: EventRecord<"ToolApprovalCancelled">) =>
    patchApproval(data.approval_id, { status: "cancelled" }),
  TurnDeleted: ({ stream, data: { turn_id } }: EventRecord<"TurnDeleted">) =>
    removeWhere({ thread_id: parseStreamName(stream).id, turn_id }),
  ThreadDeleted: ({ stream }: EventRecord<"ThreadDeleted">) => removeWhere({ thread_id: parseStreamName(stream).id }),
};
