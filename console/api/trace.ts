import type { ApprovalStatus, Source, TurnStatus, Usage } from "./types.ts";

/* The complete trace of a request, as `GET /api/turns/{id}/trace` returns it. */

export interface TracedCall {
  id: string;
  name: string;
  arguments: string;
  /** `client`: a tool that the client runs. */
  status: "running" | "completed" | "failed" | "client";
  output: string | null;
  sources: Source[];
  tool_version: number | null;
  secrets: string[];
  attempt: number | null;
  duration_ms: number | null;
  ended_at: string | null;
  /** Set for a call that a person had to approve. */
  approval: { id: string; status: ApprovalStatus; comment: string | null; decided_at: string | null } | null;
}

interface ModelOutput {
  text: string;
  reasoning: string;
  citations: (Source & { start_index: number; end_index: number })[];
}

export interface TracedRound extends ModelOutput {
  round: number;
  attempt: number;
  at: string;
  calls: TracedCall[];
  usage: Usage;
  /** For an alias: the target that answered. */
  model?: string;
  /** Data that only its provider can read. */
  opaque?: unknown;
}

export interface TracedMessage {
  role: "user" | "assistant" | "tool";
  text: string;
  /** Calls of client tools. */
  calls?: { id: string; name: string; arguments: string }[];
  /** For a result: its call. */
  call_id?: string;
  attachments: { filename: string; mime_type: string; bytes: number; sha256: string }[];
  turn_id: string;
}

/** The complete trace of one request. */
export interface Trace {
  id: string;
  thread_id: string;
  status: Exclude<TurnStatus, "refused">;
  model: string;
  answered_by: string | null;
  targets?: string[];
  /** `usage`: what the failed request has used. */
  failed_targets: { target: string; round: number; reason: string; duration_ms: number; usage?: Usage }[];
  agent: { id: string; version: number } | null;
  /** The labels that the caller set. */
  labels?: Record<string, string>;
  streamed: boolean;
  principal: string;
  request_id: string;
  trace_id: string | null;
  started_at: string;
  ended_at: string | null;
  duration_ms: number | null;
  attempts: { attempt: number; worker: string | null; at: string; resumed?: true }[];
  prompt:
    | ({
        instructions: string | null;
        messages: TracedMessage[];
        forgotten_turns: number;
        turns_not_shown: number;
      } & Record<string, unknown>)
    | null;
  rounds: TracedRound[];
  answer: (ModelOutput & { finish_reason: string | null; error: string | null }) | null;
  usage: Usage;
  events: { cursor: string; type: string; recorded_at: string }[];
}
