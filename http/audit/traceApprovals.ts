import type { z } from "zod";
import type { RecordedEvent } from "#events/envelope.ts";
import type { ThreadEvent } from "#events/thread.ts";
import type { TracedApproval } from "./traceShape.ts";

type Approval = z.infer<typeof TracedApproval>;

const ENDS = { ToolApprovalExpired: "expired", ToolApprovalCancelled: "cancelled" } as const;

/** The approvals of a turn's calls, from its events, keyed by `<round>/<call>`. */
export function traceApprovals(events: RecordedEvent[]): Map<string, Approval> {
  const approvals = new Map<string, Approval>();
  for (const recorded of events) {
    const event = recorded as unknown as ThreadEvent & { recorded_at: Date };
    switch (event.type) {
      case "ToolApprovalRequested": {
        const { approval_id, round, call, expires_at } = event.data;
        approvals.set(`${round}/${call}`, {
          id: approval_id,
          status: "pending",
          comment: null,
          decided_by: null,
          decided_at: null,
          requested_at: event.recorded_at.toISOString(),
          expires_at,
        });
        break;
      }
      case "ToolApprovalDecided": {
        const { round, call, decision, by, at } = event.data;
        Object.assign(approvals.get(`${round}/${call}`) ?? {}, {
          status: decision === "approve" ? "approved" : "rejected",
          comment: event.personal?.comment ?? null,
          decided_by: by,
          decided_at: at,
        });
        break;
      }
      case "ToolApprovalExpired":
      case "ToolApprovalCancelled": {
        const { round, call } = event.data;
        Object.assign(approvals.get(`${round}/${call}`) ?? {}, { status: ENDS[event.type] });
        break;
      }
      default:
    }
  }
  return approvals;
}
