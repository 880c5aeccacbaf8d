import { z } from "zod";
import { currentTime } from "#events/clock.ts";
import type { ApprovalLinkRow } from "#projections/runs/approvalLinks.ts";
import type { ApprovalRow } from "#projections/runs/approvals.ts";
import { Approval, ApprovalStatus } from "./approvalShape.ts";

/** In seconds. */
const MIN_LIFE = 60;
const MAX_LIFE = 30 * 24 * 60 * 60;
export const DEFAULT_LIFE = 7 * 24 * 60 * 60;
const time = z.iso.datetime();

export const NewLinkBody = z
  .object({
    expires_in: z
      .int()
      .min(MIN_LIFE)
      .max(MAX_LIFE)
      .describe("Seconds; seven days by default. A link ends with its approval at the latest."),
    for: z
      .object({ name: z.string().max(200).nullable(), email: z.email().max(320).nullable() })
      .partial()
      .describe("Whom the link is for. The name is shown with the decision."),
  })
  .partial()
  .nullish();

export const ApprovalLink = z
  .object({
    id: z.string(),
    status: z
      .enum(["active", "used", "revoked", "ended"])
      .describe("`ended`: it expired, or the approval is not pending."),
    for: z.object({ name: z.string().nullable(), email: z.string().nullable() }),
    created_by: z.object({ id: z.string(), name: z.string().nullable() }),
    created_at: time,
    expires_at: time,
    used_at: time.nullable(),
  })
  .meta({ title: "ApprovalLink" });
export const NewLink = ApprovalLink.pick({ id: true, expires_at: true })
  .extend({
    url: z.string().describe("The address to hand over. It contains a secret and is shown only now."),
  })
  .meta({ title: "NewApprovalLink" });

/** The fields of an approval that the holder of a link sees. */
export const LinkedApproval = Approval.pick({
  title: true,
  body: true,
  form: true,
  attachments: true,
  expires_at: true,
})
  .extend({
    for: z.object({ name: z.string().nullable() }),
  })
  .meta({ title: "LinkedApproval" });
export const LinkOutcome = z
  .object({
    status: ApprovalStatus.describe("`pending`: the decision was a vote, and more are required."),
    decision: z.enum(["approve", "reject"]),
  })
  .meta({ title: "LinkOutcome" });

export function linkStatus(
  { used_at, revoked_at, expires_at }: ApprovalLinkRow,
  approval: Pick<ApprovalRow, "status">,
): z.infer<typeof ApprovalLink>["status"] {
  if (used_at) return "used";
  if (revoked_at) return "revoked";
  return approval.status === "pending" && expires_at.getTime() > currentTime() ? "active" : "ended";
}

export const presentLink = (row: ApprovalLinkRow, approval: ApprovalRow): z.infer<typeof ApprovalLink> => ({
  id: row.id,
  status: linkStatus(row, approval),
  for: { name: row.name, email: row.email },
  created_by: row.created_by,
  created_at: row.created_at.toISOString(),
  expires_at: row.expires_at.toISOString(),
  used_at: row.used_at?.toISOString() ?? null,
});
