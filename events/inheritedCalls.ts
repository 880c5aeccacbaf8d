import type { EventFrom } from "./define.ts";
import type { ApprovalDecided, ApprovalExpired, ApprovalRequested, ApprovalVoted } from "./run.ts";
import type { Actor } from "./runOrigin.ts";

/* The answers that a retry or a fork takes over from its parent run. */

/** The answer to a call of `run()`: JSON, or the error of a failed step that `run()` receives. */
export type CallAnswer = { json: string } | { error: { message: string; code: string } };

/** The answer to a call that asked for a turn, as the log stores it and `run()` receives it. */
export type AgentAnswer = { ok: true; value: unknown } | { ok: false; error: { message: string; code: string } };
export function agentCallAnswer(json: string): CallAnswer {
  const answer = JSON.parse(json) as AgentAnswer;
  return answer.ok ? { json: JSON.stringify(answer.value) } : { error: answer.error };
}

/** An answered call of the parent run. */
export interface InheritedCall {
  key: string;
  kind: "step" | "approval" | "timer" | "value" | "child" | "runWait" | "messageWait" | "agent";
  /** Of a step or an approval. */
  name: string | null;
  /** Of an item of runStepMany. */
  batch: string | null;
  index: number | null;
  /** JSON of the arguments of a step. */
  args: string | null;
  answer: CallAnswer;
  /** RFC 3339; null for calls that take no time. */
  answered_at: string | null;
  /** Counts the answers that the parent received, from 1. Events of earlier releases lack it. */
  nth_answer?: number | undefined;
}

/**
 * Sorts answered calls into the order in which `run()` received their answers, which decides who wins a race. Earlier releases
 * wrote no numbers but listed the calls in that order, so calls without a number come last and keep their order.
 */
export function inOrderOfAnswers<T extends Pick<InheritedCall, "nth_answer">>(calls: readonly T[]): T[] {
  const nth = ({ nth_answer = Number.MAX_SAFE_INTEGER }: T) => nth_answer;
  return calls.toSorted((a, b) => nth(a) - nth(b));
}

/** What an approval's earlier events contribute to its answer. */
export interface ApprovalProgress {
  on_expiry: "return" | "reject" | "fail";
  /** Undefined unless it takes several votes. */
  votes: VoteAnswer[] | undefined;
}

export interface VoteAnswer {
  by: Actor;
  decision: "approve" | "reject";
  data: unknown;
  comment: string | null;
  /** Ids. Absent if there are none: `run()` may pass the whole answer to a step, and an empty list would change the step's call key. */
  files?: string[];
  at: string;
}

const parseData = (json: string | null | undefined): unknown => (json ? JSON.parse(json) : null);

export const beginApproval = ({ data }: EventFrom<typeof ApprovalRequested>): ApprovalProgress => ({
  on_expiry: data.on_expiry,
  votes: data.votes && [],
});

/** A vote, as `awaitApproval` returns it. */
export const voteAnswer = ({ data, personal }: EventFrom<typeof ApprovalVoted>): VoteAnswer => ({
  by: data.by,
  decision: data.decision,
  data: parseData(personal?.data),
  comment: personal?.comment ?? null,
  ...(data.files && { files: data.files }),
  at: data.at,
});

/** JSON of what `awaitApproval` returns. */
export function approvalAnswer(
  event: EventFrom<typeof ApprovalDecided> | EventFrom<typeof ApprovalExpired>,
  so_far: ApprovalProgress | undefined,
): string {
  const { approval_id, at } = event.data;
  const end = { decided_at: at, approval_id, votes: so_far?.votes };
  if (event.type === "ApprovalExpired") {
    const status = so_far?.on_expiry === "reject" ? "rejected" : "expired";
    return JSON.stringify({ approved: false, status, data: null, comment: null, decided_by: null, ...end });
  }
  const approved = event.data.decision === "approve";
  return JSON.stringify({
    approved,
    status: approved ? "approved" : "rejected",
    data: parseData(event.personal?.data),
    comment: event.personal?.comment ?? null,
    ...(event.data.files && { files: event.data.files }),
    decided_by: event.data.by,
    ...end,
  });
}

/** JSON of what `waitForRun` and `waitForEvent` return on timeout. `run_id`: the awaited run; undefined for an event. */
export const timedOutAnswer = (run_id: string | undefined): string =>
  JSON.stringify(
    run_id === undefined ? { status: "timed_out" } : { run_id, status: "timed_out", result: null, error: null },
  );
