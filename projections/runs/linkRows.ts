import type { RecordedEvent } from "#events/envelope.ts";
import type { RunEvent } from "#events/run.ts";
import { encode, patchRow, putRow, type Change, type Row } from "../projection.ts";

type EventRecord<T extends RunEvent["type"]> = RecordedEvent<Extract<RunEvent, { type: T }>>;
const patchLink = (id: string, row: Row): Change[] => [patchRow("approval_links", id, row)];

/** Links to approvals, for people without an account. */
export const approvalLinks = {
  ApprovalLinkCreated: (event: EventRecord<"ApprovalLinkCreated">): Change[] => {
    const { organization_id, version, data, personal, recorded_at } = event;
    if (!personal) return [];
    const { link_id, approval_id, run_id, created_by, expires_at, secret_hash } = data;
    return [
      putRow("approval_links", link_id, {
        approval_id,
        run_id,
        organization_id,
        version,
        secret_hash,
        name: encode(personal.name),
        email: encode(personal.email),
        created_by_id: created_by.id,
        expires_at: new Date(expires_at),
        created_at: recorded_at,
      }),
    ];
  },
  ApprovalLinkRevoked: ({ data, recorded_at }: EventRecord<"ApprovalLinkRevoked">): Change[] =>
    patchLink(data.link_id, { revoked_at: recorded_at }),
};

/** Marks the link that a vote or a decision used up. */
export const markLinkUsed = ({
  data: { by, at, decision },
}: EventRecord<"ApprovalVoted" | "ApprovalDecided">): Change[] =>
  by.type === "link" ? patchLink(by.id, { used_at: new Date(at), decision }) : [];
