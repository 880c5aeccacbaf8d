import type { Assignee } from "./toolApproval.ts";

/* Answers of the API, with the fields that the console uses. */

export type Role = "owner" | "admin" | "builder" | "approver" | "viewer";

export interface Person {
  user: { id: string; email: string; name: string; role: Role };
  organization: { id: string; name: string };
}

/** How many scanned pages of a file were read. */
export interface ReadingProgress {
  pages_read: number;
  pages_total: number;
}

export interface Page<T> {
  data: T[];
  total: number;
}

export interface Actor {
  type: "person" | "api_key" | "webhook" | "schedule" | "run" | "system" | "link";
  id: string;
  name?: string | null;
}

export const RUN_STATUSES = ["pending", "running", "completed", "failed", "cancelled", "continued"] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export interface RunSummary {
  id: string;
  workflow_id: string;
  workflow_name: string | null;
  definition_id: string;
  definition_version: number;
  status: RunStatus;
  pending_approvals: number;
  error: string | null;
  error_info: { code: string; step: string | null } | null;
  started_by: Actor & { trigger_id: string | null };
  external_user_id: string | null;
  created_at: string;
  started_at: string | null;
  completed_at: string | null;
  /** The run that this run retries, forks or continues. */
  parent: { run_id: string; kind: "retry" | "fork" | "continued"; step: string | null } | null;
}

/** The answer to a request that changes many runs. */
export interface ChangedRuns {
  data: { run_id: string; new_run_id: string | null; error: { code: string | null; message: string } | null }[];
  remaining: number;
  next_cursor: string | null;
}

/** For an error in a workflow's source, from 1. */
export interface ErrorPlace {
  line?: number | null;
  column?: number | null;
}

export const APPROVAL_STATUSES = ["pending", "approved", "rejected", "expired", "cancelled"] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

export const APPROVAL_ORDERS = ["oldest", "newest", "urgent"] as const;
export type ApprovalOrder = (typeof APPROVAL_ORDERS)[number];

/** A file of an approval, its decision or a comment. */
export interface Attachment {
  file_id: string;
  name: string;
  bytes: number;
}

export interface Approval {
  id: string;
  /** Null if an agent's tool requests the approval. */
  run_id: string | null;
  tool_call: {
    response_id: string;
    agent: { id: string; name: string | null };
    tool: string;
    /** Null once it is erased. */
    arguments: string | null;
    asked_by: Actor & { name: string | null };
  } | null;
  title: string;
  body: string | null;
  /** JSON Schema of the data of a decision. */
  form: FormSchema | null;
  status: ApprovalStatus;
  /** When the approval escalated because it had waited too long. */
  reminded_at: string | null;
  escalated_at: string | null;
  /** The number of equal votes that decide. */
  required: number;
  votes: {
    by: Actor & { name: string | null };
    in_place_of: NamedPerson | null;
    decision: "approve" | "reject";
    comment: string | null;
    files: Attachment[];
    at: string;
  }[];
  decision: "approve" | "reject" | null;
  comment: string | null;
  /** Of the decision. */
  files: Attachment[];
  data: unknown;
  decided_by: Actor | null;
  /** The person for whom a substitute decided. */
  decided_in_place_of: NamedPerson | null;
  decided_at: string | null;
  assignees: Assignee[];
  /** Whether the caller may decide it now. */
  may_decide: boolean;
  /** The person for whom the caller is a substitute, if the caller is not an assignee. */
  in_place_of: NamedPerson | null;
  delegations: { by: NamedPerson; to: NamedPerson; reason: string; at: string; has_effect: boolean }[];
  comment_count: number;
  attachments: Attachment[];
  expires_at: string;
  created_at: string;
}

/** `name` is null if the person no longer exists. */
export interface NamedPerson {
  id: string;
  name: string | null;
}

export interface FormSchema {
  type?: string;
  title?: string;
  description?: string;
  properties?: Record<string, FormSchema>;
  required?: string[];
  enum?: unknown[];
  format?: string;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  default?: unknown;
}

export const TURN_STATUSES = ["running", "completed", "failed", "stopped", "refused"] as const;
export type TurnStatus = (typeof TURN_STATUSES)[number];

export interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  cached_tokens: number;
  reasoning_tokens: number;
  /** US dollars; absent if unknown. */
  cost?: string;
}

/** A request to a model, as lists show it. */
export interface TurnSummary {
  id: string;
  thread_id: string;
  status: TurnStatus;
  model: string;
  agent: { id: string; version: number; name: string | null } | null;
  principal: string;
  principal_name: string | null;
  question: string | null;
  error: string | null;
  usage: Usage | null;
  started_at: string;
  ended_at: string | null;
  duration_ms: number | null;
}

/** A page of a list with cursors. */
export interface Slice<T> {
  data: T[];
  next_after: string | null;
  has_more: boolean;
}

export interface Source {
  url: string;
  title: string;
  /** The passage that was read, in this version of the document's text. */
  seq?: number | undefined;
  version?: number | undefined;
}
