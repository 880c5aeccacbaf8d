import { z } from "zod";
import { Actor } from "#events/runOrigin.ts";
import { Assignee } from "#events/runParts.ts";
import { responseId } from "../turns/responseId.ts";
import { rightOf, type Reader } from "./approvers.ts";
import { votersOf } from "#projections/runs/approvalRows.ts";
import type { ApprovalRow } from "#projections/runs/approvals.ts";

export const ApprovalStatus = z.enum(["pending", "approved", "rejected", "expired", "cancelled"]);
const Decision = z.enum(["approve", "reject"]);
const By = Actor.extend({ name: z.string().nullable() });
const Person = z.object({ id: z.string(), name: z.string().nullable() });
const time = z.iso.datetime();

const ToolCall = z.object({
  response_id: z.string().describe("The response that waits."),
  thread_id: z.string(),
  agent: z.object({ id: z.string(), name: z.string().nullable() }),
  call_id: z.string().nullable(),
  tool: z.string(),
  arguments: z.string().nullable().describe("JSON, as the model wrote it. Null once it is erased."),
  asked_by: By.describe("Who asked the agent."),
});

/** A file that is shown with an approval. */
export const Attachment = z.object({ file_id: z.string(), name: z.string(), mime_type: z.string(), bytes: z.int() });

export const Approval = z
  .object({
    id: z.string(),
    run_id: z.string().nullable().describe("Null if a tool call of an agent waits for the approval."),
    workflow_id: z.string().nullable(),
    tool_call: ToolCall.nullable().describe(
      "The tool call of an agent that waits for the approval; null if a run asks.",
    ),
    name: z.string(),
    title: z.string(),
    body: z.string().nullable(),
    form: z.record(z.string(), z.unknown()).nullable().describe("JSON Schema of the `data` of a decision."),
    assignees: z.array(Assignee),
    may_decide: z
      .boolean()
      .describe("Whether the reader may decide it now: it is pending, the reader is asked and has not voted."),
    in_place_of: Person.nullable().describe(
      "The person in whose place the reader may decide, as a substitute; else null.",
    ),
    delegations: z
      .array(
        z.object({
          by: Person,
          to: Person,
          reason: z.string(),
          at: time,
          has_effect: z
            .boolean()
            .describe(
              "False while neither `to` nor those to whom it was passed on may decide approvals, and once `by`, or somebody from whom it came, has then voted or delegated it again.",
            ),
        }),
      )
      .describe("Who delegated it to whom, in order. While one has an effect, `to` may decide, and `by` may not."),
    comment_count: z.int(),
    attachments: z.array(Attachment).describe("Files that the run shows to those who decide."),
    reminded_at: time
      .nullable()
      .describe("When people were reminded, because it had waited for so long. From then on the inbox shows it first."),
    escalated_at: time
      .nullable()
      .describe("When it was escalated. From then on `assignees` also has those to whom it was."),
    required: z.int().describe("Number of equal votes that decide."),
    one_rejection_ends: z.boolean().describe("The first rejection decides, however many votes are required."),
    status: ApprovalStatus,
    votes: z.array(
      z.object({
        by: By,
        in_place_of: Person.nullable().describe("The person for whom a substitute voted."),
        decision: Decision,
        comment: z.string().nullable(),
        files: z.array(Attachment),
        data: z.unknown(),
        at: time,
      }),
    ),
    decision: Decision.nullable(),
    comment: z.string().nullable(),
    files: z.array(Attachment).describe("Files that came with the decision."),
    data: z.unknown(),
    decided_by: By.nullable(),
    decided_in_place_of: Person.nullable().describe("The person for whom a substitute decided."),
    decided_at: time.nullable(),
    expires_at: time,
    created_at: time,
  })
  .meta({ title: "Approval" });

/** The votes. If one vote suffices, the decision itself is the only vote. */
function presentVotes({
  required,
  votes,
  decided_by: by,
  decided_for,
  decision,
  comment,
  files,
  data,
  decided_at,
}: ApprovalRow) {
  if (required > 1)
    return votes.map(({ at, link_by: _, ...vote }) => ({ ...vote, data: vote.data ?? null, at: at.toISOString() }));
  return by && decision && decided_at
    ? [{ by, in_place_of: decided_for, decision, comment, files, data, at: decided_at.toISOString() }]
    : [];
}

function presentCall({ call, name, asked_by }: ApprovalRow): z.infer<typeof ToolCall> | null {
  if (!call) return null;
  const { turn_id, thread_id, agent_id, agent_name, call_id, arguments: args } = call;
  const agent = { id: agent_id, name: agent_name };
  return { response_id: responseId(turn_id), thread_id, agent, call_id, tool: name, arguments: args, asked_by };
}

/** Whether a person has voted, or their link or their substitute for them. */
export const hasVoted = ({ votes }: ApprovalRow, id: string): boolean =>
  votes.some((vote) => votersOf(vote).includes(id));

/** Whether a reader may decide now, and in whose place. Nobody may once the approval is decided. */
function presentRight(row: ApprovalRow, reader: Reader | null) {
  const right = reader && row.status === "pending" ? rightOf(reader, row) : undefined;
  if (!reader || !right || right.refusal !== undefined) return { may_decide: false, in_place_of: null };
  const { in_place_of: replaced } = right;
  return {
    may_decide: !hasVoted(row, "key" in reader ? reader.key : reader.self.user_id),
    in_place_of: replaced ? { id: replaced.user_id, name: replaced.name } : null,
  };
}

/** Presents an approval to `reader`; null in an export. */
export function presentApproval(row: ApprovalRow, reader: Reader | null): z.infer<typeof Approval> {
  return {
    id: row.id,
    run_id: row.run_id,
    workflow_id: row.workflow_id,
    tool_call: presentCall(row),
    name: row.name,
    title: row.title,
    body: row.body,
    form: row.form,
    assignees: row.assignees,
    ...presentRight(row, reader),
    delegations: row.delegations.map(({ by, to, reason, at, has_effect }) => ({
      by,
      to,
      reason,
      at: at.toISOString(),
      has_effect,
    })),
    comment_count: row.comment_count,
    attachments: row.attachments,
    reminded_at: row.reminded_at?.toISOString() ?? null,
    escalated_at: row.escalated_at?.toISOString() ?? null,
    required: row.required,
    one_rejection_ends: row.one_rejection_ends,
    status: row.status,
    votes: presentVotes(row),
    decision: row.decision,
    comment: row.comment,
    files: row.files,
    data: row.data ?? null,
    decided_by: row.decided_by,
    decided_in_place_of: row.decided_for,
    decided_at: row.decided_at?.toISOString() ?? null,
    expires_at: row.expires_at.toISOString(),
    created_at: row.created_at.toISOString(),
  };
}
