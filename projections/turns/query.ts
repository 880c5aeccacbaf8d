import { isUuid } from "#events/ids.ts";
import type { FinishReason, Message, Said, Usage } from "#events/thread.ts";
import { decode, decoded, type Db } from "../projection.ts";

export interface TurnRow {
  id: string;
  thread_id: string;
  organization_id: string;
  scope: string;
  model: string;
  streamed: boolean;
  status: "running" | "completed" | "failed" | "stopped" | "refused";
  /** The request's messages; null when they are in a blob, or gone. */
  input: Message[] | null;
  /** Key of the blob of the whole prompt (JSON, sealed with the data key of `turn-<id>`). */
  prompt_blob: string | null;
  said: Said | null;
  finish_reason: FinishReason | null;
  usage: Usage | null;
  /** Why it failed, in words. */
  error: string | null;
  /** The provider's own code, where it refused. */
  code: string | null;
  command_id: string;
  attempt: number;
  ends_by: Date;
  started_at: Date;
  ended_at: Date | null;
}

type Stored = {
  [K in keyof TurnRow]: TurnRow[K] extends Date | string | number | boolean | null ? TurnRow[K] : string | null;
};

/** One turn of an organization; the scope is for the caller to compare. */
export async function getTurn(db: Db, organization: string, turnId: string): Promise<TurnRow | undefined> {
  if (!isUuid(turnId)) return undefined;
  const [row] = await db.query<Stored>(
    `select id, thread_id, organization_id, scope, model, streamed, status, input, prompt_blob, said, finish_reason, usage,
            error, code, command_id, attempt, ends_by, started_at, ended_at
     from read.turns where id = $2 and organization_id = $1`,
    [organization, turnId],
  );
  if (!row) return undefined;
  return {
    ...row,
    model: decoded(row.model),
    input: decode(row.input),
    said: decode(row.said),
    usage: decode(row.usage),
    error: decode(row.error),
    code: decode(row.code),
  };
}

/** The id of the turn whose start is the event at this position of a thread. */
export async function turnStartedAt(
  db: Db,
  organization: string,
  thread: string,
  position: number,
): Promise<string | undefined> {
  const [row] = await db.query<{ id: string }>(
    "select id from read.turns where thread_id = $2 and organization_id = $1 and position = $3",
    [organization, thread, position],
  );
  return row?.id;
}

/** Whether the scope has a turn in this thread that was not refused. */
export async function threadExists(db: Db, organization: string, thread: string, scope: string): Promise<boolean> {
  if (!isUuid(thread)) return false;
  const rows = await db.query(
    `select from read.turns where thread_id = $2 and organization_id = $1 and scope = $3 and status <> 'refused' limit 1`,
    [organization, thread, scope],
  );
  return rows.length > 0;
}

/** What one turn added to its thread. */
export interface ThreadTurn {
  turn_id: string;
  status: Exclude<TurnRow["status"], "refused">;
  /** The request's messages; null when they are in the blob. */
  input: Message[] | null;
  /** Key of the blob of the whole prompt (JSON with `messages`). */
  prompt_blob: string | null;
  /** The data key of `turn-<id>`, wrapped (base64); null when it is gone. */
  wrapped_key: string | null;
  /** What the model said; null while it runs, and where it said nothing. */
  answer: string | null;
  started_at: Date;
  ended_at: Date | null;
}

/** The turns of a thread in order: each is its input messages, then its answer. Refused turns left no trace. */
export async function listMessages(db: Db, organization: string, thread: string, scope: string): Promise<ThreadTurn[]> {
  if (!isUuid(thread)) return [];
  const rows = await db.query<Omit<ThreadTurn, "input" | "answer"> & { input: string | null; said: string | null }>(
    `select t.id as turn_id, t.status, t.input, t.prompt_blob, k.wrapped as wrapped_key, t.said, t.started_at, t.ended_at
     from read.turns t left join log.keys k on k.thing = 'turn-' || t.id
     where t.thread_id = $2 and t.organization_id = $1 and t.scope = $3 and t.status <> 'refused'
     order by t.position`,
    [organization, thread, scope],
  );
  return rows.map(({ said, ...row }) => ({
    ...row,
    input: decode<Message[]>(row.input),
    answer: decode<Said>(said)?.text || null,
  }));
}
