import type { VoteAnswer } from "#events/inheritedCalls.ts";
import type { RunEvent } from "#events/run.ts";
import { Rejection } from "#events/rejection.ts";
import type { Actor } from "#events/runOrigin.ts";
import { put } from "./records.ts";

export const approvalNotPending = () => new Rejection("approval_not_pending", "This approval is not pending any more.");

export interface OpenApproval {
  key: string;
  expires_at: string;
  on_expiry: "return" | "reject" | "fail";
  /** RFC 3339; absent once it has happened. */
  remind_at?: string | undefined;
  escalate_at?: string | undefined;
  /** Set if the approval takes several votes. */
  votes?: { required: number; one_rejection_ends: boolean; cast: Cast[] };
  /** By id, including revoked ones. */
  links?: Record<string, ApprovalLink>;
  /** Ids of people, in order. */
  delegations?: { by: string; to: string }[];
  comments?: number;
}

/** A vote. `in_place_of`: the person whose substitute cast it. */
type Cast = Pick<VoteAnswer, "by" | "decision"> & { in_place_of?: string | undefined };

/** A link that decides an approval on behalf of the person who created it. */
interface ApprovalLink {
  created_by: Actor;
  expires_at: string;
  revoked: boolean;
}

/** By approval id. */
type OpenApprovals = Record<string, OpenApproval>;
type TypedEvent<T extends RunEvent["type"]> = Extract<RunEvent, { type: T }>;

export function requestApproval(approvals: OpenApprovals, { data }: TypedEvent<"ApprovalRequested">): OpenApprovals {
  const { approval_id, key, expires_at, on_expiry, remind_at, escalate_at, votes } = data;
  const approval = {
    key,
    expires_at,
    on_expiry,
    ...(remind_at && { remind_at }),
    ...(escalate_at && { escalate_at }),
    ...(votes && { votes: { ...votes, cast: [] } }),
  };
  return put(approvals, approval_id, approval);
}

/** The times at which something happens to a pending approval by itself. */
export const approvalTimes = ({ expires_at, remind_at, escalate_at }: OpenApproval): string[] =>
  [expires_at, remind_at, escalate_at].filter((time) => time !== undefined);

type Change = TypedEvent<
  | "ApprovalVoted"
  | "ApprovalReminded"
  | "ApprovalEscalated"
  | "ApprovalLinkCreated"
  | "ApprovalLinkRevoked"
  | "ApprovalDelegated"
  | "ApprovalCommented"
>;

function applyChange(
  { votes, links = {}, delegations = [], comments = 0 }: OpenApproval,
  { type, data }: Change,
): Partial<OpenApproval> {
  switch (type) {
    case "ApprovalVoted": {
      const { by, decision, in_place_of } = data;
      const cast = { by, decision, ...(in_place_of && { in_place_of }) };
      return votes ? { votes: { ...votes, cast: [...votes.cast, cast] } } : {};
    }
    case "ApprovalReminded":
      return { remind_at: undefined };
    case "ApprovalEscalated":
      return { escalate_at: undefined };
    case "ApprovalLinkCreated": {
      const { link_id, created_by, expires_at } = data;
      return { links: { ...links, [link_id]: { created_by, expires_at, revoked: false } } };
    }
    case "ApprovalLinkRevoked": {
      const link = links[data.link_id];
      return link ? { links: { ...links, [data.link_id]: { ...link, revoked: true } } } : {};
    }
    case "ApprovalDelegated":
      return { delegations: [...delegations, { by: data.by.id, to: data.to }] };
    case "ApprovalCommented":
      return { comments: comments + 1 };
  }
}

/** Changes a pending approval; ignores others. */
export function changeApproval(approvals: OpenApprovals, event: Change): OpenApprovals {
  const { approval_id } = event.data;
  const approval = approvals[approval_id];
  return approval ? put(approvals, approval_id, { ...approval, ...applyChange(approval, event) }) : approvals;
}
