import { isUuid } from "#events/ids.ts";
import { scopeOfRun } from "#events/scope.ts";
import type { AgentOfTurn, FinishReason, Message, Said, ToolCall, Usage } from "#events/thread.ts";
import { decode, decoded, encode, type Db } from "../projection.ts";

export interface Asked {
  instructions: string | null;
  user: string | null;
  vars: Record<string, unknown>;
  reasoning_effort: string | null;
}

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
  /** Of a response. */
  agent: AgentOfTurn | null;
  /** What a response shows again of its request; null of a chat turn, and where it is in the blob of the prompt. */
  asked: Asked | null;
  /** Key of the blob of what its stream told; null while it runs, and of a chat turn. */
  frames: string | null;
  /** The data key of `turn-<id>`, wrapped (base64); null when it is gone. */
  wrapped_key: string | null;
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
    `select t.id, t.thread_id, t.organization_id, t.scope, t.model, t.streamed, t.status, t.input, t.prompt_blob, t.said,
            t.finish_reason, t.usage, t.error, t.code, t.agent, t.asked, t.frames, k.wrapped as wrapped_key, t.command_id,
            t.attempt, t.ends_by, t.started_at, t.ended_at
     from read.turns t left join log.keys k on k.thing = 'turn-' || t.id where t.id = $2 and t.organization_id = $1`,
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
    agent: decode(row.agent),
    asked: decode(row.asked),
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

/** The turns of a thread in order, up to one where it is named: each is its input messages, then its answer. Refused turns left no trace. */
export async function listMessages(
  db: Db,
  organization: string,
  thread: string,
  scope: string,
  { until }: { until?: string } = {},
): Promise<ThreadTurn[]> {
  if (!isUuid(thread)) return [];
  const rows = await db.query<Omit<ThreadTurn, "input" | "answer"> & { input: string | null; said: string | null }>(
    `select t.id as turn_id, t.status, t.input, t.prompt_blob, k.wrapped as wrapped_key, t.said, t.started_at, t.ended_at
     from read.turns t left join log.keys k on k.thing = 'turn-' || t.id
     where t.thread_id = $2 and t.organization_id = $1 and t.scope = $3 and t.status <> 'refused'
       and ($4::uuid is null or t.position <= (select position from read.turns where id = $4))
     order by t.position`,
    [organization, thread, scope, until ?? null],
  );
  return rows.map(({ said, ...row }) => ({
    ...row,
    input: decode<Message[]>(row.input),
    answer: decode<Said>(said)?.text || null,
  }));
}

/** One answer of the model that asked for tools, and what became of its calls. */
export interface RoundRow {
  said: Said;
  calls: ToolCall[];
  /** By call; undefined while it runs. */
  statuses: ("completed" | "failed" | undefined)[];
}

/** The rounds of a turn, in order; none where it was erased. */
export async function listRounds(db: Db, turn: string): Promise<RoundRow[]> {
  const rows = await db.query<{ said: string | null; calls: string | null; statuses: Record<string, string> }>(
    `select r.said, r.calls, (
       select coalesce(json_object_agg(c.call, c.status), '{}') from read.turn_calls c where (c.turn_id, c.round) = (r.turn_id, r.round)
     ) as statuses
     from read.turn_rounds r where r.turn_id = $1 order by r.round`,
    [turn],
  );
  return rows.flatMap(({ said, calls, statuses }) => {
    if (said === null || calls === null) return [];
    const asked = decoded<ToolCall[]>(calls);
    return [{ said: decoded<Said>(said), calls: asked, statuses: asked.map((_, n) => statuses[n] as "completed") }];
  });
}

/** The newest turn of a scope's thread that stands. */
export async function newestTurn(
  db: Db,
  organization: string,
  thread: string,
  scope: string,
): Promise<string | undefined> {
  const [row] = await db.query<{ id: string }>(
    `select id from read.turns where thread_id = $2 and organization_id = $1 and scope = $3 and status <> 'refused'
     order by position desc limit 1`,
    [organization, thread, scope],
  );
  return row?.id;
}

/**
 * The response, among the newest 1,000 of a scope, in which a tool call with this id was run here. Turn by turn (`offset 0`):
 * 3 ms at 100,000 turns, where a join took 100 ms.
 */
export async function turnOfCall(
  db: Db,
  organization: string,
  scope: string,
  call_id: string,
): Promise<string | undefined> {
  const rows = await db.query<{ id: string; calls: string }>(
    `select t.id, r.calls from (
       select id, started_at from read.turns where organization_id = $1 and scope = $2 and agent is not null
       order by started_at desc limit 1000
     ) t cross join lateral (select calls from read.turn_rounds where turn_id = t.id offset 0) r
     where position($3 in r.calls) > 0 order by t.started_at desc`,
    [organization, scope, encode(call_id)],
  );
  return rows.find(({ calls }) => decoded<ToolCall[]>(calls).some(({ id }) => id === call_id))?.id;
}

/** Threads that steps of a run have begun. */
export async function threadsOfRun(db: Db, organization: string, run_id: string): Promise<string[]> {
  const rows = await db.query<{ thread_id: string }>(
    "select distinct thread_id from read.turns where scope = $1 and scope like 'run:%' and organization_id = $2",
    [scopeOfRun(run_id), organization],
  );
  return rows.map(({ thread_id }) => thread_id);
}
