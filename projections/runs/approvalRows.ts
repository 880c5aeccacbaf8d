import type { Actor } from "#events/runOrigin.ts";
import type { ApprovalText } from "#events/runParts.ts";
import type { ToolCall } from "#events/thread.ts";
import type { z } from "zod";
import type { Envelope } from "#events/workflow.ts";
import { decode, decodeOrNull } from "../projection.ts";
import { parseFiles, type AttachmentRow } from "./approvalFiles.ts";
import {
  parseDelegations,
  parsePerson,
  type Delegation,
  type NamedPerson,
  type StoredDelegation,
} from "./delegations.ts";

export type ApprovalStatus = "pending" | "approved" | "rejected" | "expired" | "cancelled";

/** `name` is null if the person or the key no longer exists. */
type NamedActor = Pick<Actor, "type" | "id"> & { name: string | null };
export interface VoteRow {
  by: NamedActor;
  /** The person whose link voted. */
  link_by: string | null;
  /** The person whose substitute voted. */
  in_place_of: NamedPerson | null;
  decision: "approve" | "reject";
  data: unknown;
  comment: string | null;
  /** Existing files only. */
  files: AttachmentRow[];
  at: Date;
}

/** Ids of the people who have voted by it: the voter, the creator of a link, and the person whom a substitute replaces. */
export const votersOf = ({ by, link_by, in_place_of }: Pick<VoteRow, "by" | "link_by" | "in_place_of">): string[] => [
  by.id,
  ...(link_by === null ? [] : [link_by]),
  ...(in_place_of ? [in_place_of.id] : []),
];

/** The call of an agent's tool that an approval is for. */
export interface ApprovedCall {
  turn_id: string;
  thread_id: string;
  agent_id: string;
  /** Null if the agent no longer exists. */
  agent_name: string | null;
  /** Null if erased. */
  call_id: string | null;
  arguments: string | null;
}

export interface ApprovalRow {
  id: string;
  /** Null for a tool call of an agent. */
  run_id: string | null;
  workflow_id: string | null;
  /** Null for an approval that a run requests. */
  call: ApprovedCall | null;
  project_id: string | null;
  status: ApprovalStatus;
  name: string;
  title: string;
  body: string | null;
  /** JSON Schema of the form that the decider of the approval fills in. */
  form: Record<string, unknown> | null;
  /** Includes the people that an escalation added. */
  assignees: z.infer<typeof ApprovalText>["assignees"];
  reminded_at: Date | null;
  escalated_at: Date | null;
  self_approval: boolean;
  allow_api_key: boolean;
  /** Number of equal votes it takes. */
  required: number;
  one_rejection_ends: boolean;
  /** In order; only if more than one vote is required. */
  votes: VoteRow[];
  decision: "approve" | "reject" | null;
  data: unknown;
  comment: string | null;
  decided_by: NamedActor | null;
  /** The person whose substitute decided. */
  decided_for: NamedPerson | null;
  decided_at: Date | null;
  /** In order. */
  delegations: Delegation[];
  /** Existing files only. */
  attachments: AttachmentRow[];
  /** Files attached to the decision, existing ones only. */
  files: AttachmentRow[];
  comment_count: number;
  expires_at: Date;
  created_at: Date;
  /** Who is behind the run, or asked the agent. */
  asked_by: NamedActor;
  /** The workflow's current rules; null if the workflow cannot be read. For a tool call, the approval itself has the rules. */
  rules: Envelope["approvals"] | null;
}

/** A tool call's approval has its own rules; these allow everything, so that they add no restriction. */
const CALL_RULES: NonNullable<ApprovalRow["rules"]> = { default_expiry_s: 1, allow_api_key: true };

export interface StoredRow
  extends Omit<
    ApprovalRow,
    | "name"
    | "title"
    | "form"
    | "assignees"
    | "data"
    | "decided_by"
    | "decided_for"
    | "asked_by"
    | "votes"
    | "call"
    | "delegations"
    | "attachments"
    | "files"
  > {
  name: string;
  title: string;
  form: string | null;
  assignees: string;
  escalate_to: string | null;
  data: string | null;
  decided_by_type: Actor["type"] | null;
  decided_by_id: string | null;
  decided_by_name: string | null;
  decided_for_id: string | null;
  decided_for_name: string | null;
  delegations: StoredDelegation[] | null;
  attachments: AttachmentRow[] | null;
  files: AttachmentRow[] | null;
  asked_by: string;
  asker_name: string | null;
  votes: StoredVote[] | null;
  turn_id: string | null;
  thread_id: string | null;
  agent_id: string | null;
  agent_name: string | null;
  call: number | null;
  calls: string | null;
}

interface StoredVote {
  type: Actor["type"];
  id: string;
  name: string | null;
  link_by: string | null;
  for_id: string | null;
  for_name: string | null;
  decision: "approve" | "reject";
  data: string | null;
  comment: string | null;
  files: AttachmentRow[] | null;
  at: string;
}

const parseVote = ({ type, id, name, link_by, for_id, for_name, at, ...vote }: StoredVote): VoteRow => ({
  by: { type, id, name: decodeOrNull(name) },
  link_by,
  in_place_of: for_id === null ? null : parsePerson(for_id, for_name),
  decision: vote.decision,
  data: decodeOrNull(vote.data),
  comment: decodeOrNull(vote.comment),
  files: parseFiles(vote.files),
  at: new Date(at),
});

function parseCall({ turn_id, thread_id, agent_id, agent_name, call, calls }: StoredRow): ApprovedCall | null {
  if (turn_id === null || thread_id === null || agent_id === null) return null;
  const request = call === null ? undefined : decodeOrNull<ToolCall[]>(calls)?.[call];
  const name = decodeOrNull<string>(agent_name);
  return {
    turn_id,
    thread_id,
    agent_id,
    agent_name: name,
    call_id: request?.id ?? null,
    arguments: request?.arguments ?? null,
  };
}

export function parseRow(stored: StoredRow): ApprovalRow {
  const { decided_by_type: type, decided_by_id: id, decided_by_name, asker_name, escalate_to, ...whole } = stored;
  const { decided_for_id: for_id, decided_for_name: for_name, ...rest } = whole;
  const { turn_id: _t, thread_id: _h, agent_id: _a, agent_name: _n, calls: _c, ...row } = rest;
  const call = parseCall(stored);
  return {
    ...row,
    call,
    name: decode(row.name),
    title: decode(row.title),
    body: decodeOrNull(row.body),
    form: decodeOrNull(row.form),
    assignees: [
      ...decode<ApprovalRow["assignees"]>(row.assignees),
      ...(row.escalated_at ? (decodeOrNull<ApprovalRow["assignees"]>(escalate_to) ?? []) : []),
    ],
    data: decodeOrNull(row.data),
    comment: decodeOrNull(row.comment),
    decided_by: type === null || id === null ? null : { type, id, name: decodeOrNull(decided_by_name) },
    decided_for: for_id === null ? null : parsePerson(for_id, for_name),
    delegations: parseDelegations(row.delegations ?? []),
    attachments: parseFiles(row.attachments),
    files: parseFiles(row.files),
    asked_by: { ...decode<Actor>(row.asked_by), name: decodeOrNull(asker_name) },
    votes: (row.votes ?? []).map(parseVote),
    rules: call ? CALL_RULES : row.rules,
  };
}
