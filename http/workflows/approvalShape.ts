import { z } from "zod";
import { Actor } from "#events/run.ts";
import { Assignee } from "#events/runParts.ts";
import type { ApprovalRow } from "#projections/runs/approvals.ts";

export const ApprovalStatus = z.enum(["pending", "approved", "rejected", "expired", "cancelled"]);
const Decision = z.enum(["approve", "reject"]);
const By = Actor.extend({ name: z.string().nullable() });
const time = z.iso.datetime();

export const Approval = z.object({
  id: z.string(),
  run_id: z.string(),
  workflow_id: z.string(),
  name: z.string(),
  title: z.string(),
  body: z.string().nullable(),
  form: z.record(z.string(), z.unknown()).nullable().describe("JSON Schema of the `data` of a decision."),
  assignees: z.array(Assignee),
  required: z.int().describe("Number of equal votes that decide."),
  one_rejection_ends: z.boolean().describe("The first rejection decides, however many votes are required."),
  status: ApprovalStatus,
  votes: z.array(z.object({ by: By, decision: Decision, comment: z.string().nullable(), data: z.unknown(), at: time })),
  decision: Decision.nullable(),
  comment: z.string().nullable(),
  data: z.unknown(),
  decided_by: By.nullable(),
  decided_at: time.nullable(),
  expires_at: time,
  created_at: time,
});

/** The votes. Where one decides, it is the decision. */
function presentVotes({ required, votes, decided_by: by, decision, comment, data, decided_at }: ApprovalRow) {
  if (required > 1) return votes.map(({ at, ...vote }) => ({ ...vote, data: vote.data ?? null, at: at.toISOString() }));
  return by && decision && decided_at ? [{ by, decision, comment, data, at: decided_at.toISOString() }] : [];
}

export function presentApproval(row: ApprovalRow): z.infer<typeof Approval> {
  return {
    id: row.id,
    run_id: row.run_id,
    workflow_id: row.workflow_id,
    name: row.name,
    title: row.title,
    body: row.body,
    form: row.form,
    assignees: row.assignees,
    required: row.required,
    one_rejection_ends: row.one_rejection_ends,
    status: row.status,
    votes: presentVotes(row),
    decision: row.decision,
    comment: row.comment,
    data: row.data ?? null,
    decided_by: row.decided_by,
    decided_at: row.decided_at?.toISOString() ?? null,
    expires_at: row.expires_at.toISOString(),
    created_at: row.created_at.toISOString(),
  };
}
