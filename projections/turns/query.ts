import { isUuid } from "#events/ids.ts";
import type { TurnAgent, FinishReason, Message, TurnOutput, ToolCall, Usage } from "#events/thread.ts";
import { decodeOrNull, decode, encode, type Db } from "../projection.ts";

/** The request fields that a response repeats. */
export interface RequestEcho {
  instructions: string | null;
  user: string | null;
  vars: Record<string, unknown>;
  reasoning_effort: string | null;
  max_output_tokens?: number;
}

export interface TurnRow {
  id: string;
  thread_id: string;
  organization_id: string;
  scope: string;
  model: string;
  streamed: boolean;
  status: "running" | "completed" | "failed" | "stopped" | "refused";
  /** The messages of the request; null if they are in a blob or erased. */
  input: Message[] | null;
  /** Key of the blob of the whole prompt (JSON, sealed with the data key of `turn-<id>`). */
  prompt_blob: string | null;
  said: TurnOutput | null;
  finish_reason: FinishReason | null;
  usage: Usage | null;
  /** The error message of a failed turn. */
  error: string | null;
  /** The provider's error code, if it refused the request. */
  code: string | null;
  /** Null for a chat turn. */
  agent: TurnAgent | null;
  /** Null for a chat turn, and if the prompt is in a blob. */
  asked: RequestEcho | null;
  /** Key of the blob with the frames of its stream; null while it runs, and for a chat turn. */
  frames: string | null;
  /** The data key of `turn-<id>`, wrapped (base64); null if it was destroyed. */
  wrapped_key: string | null;
  command_id: string;
  attempt: number;
  ends_by: Date;
  started_at: Date;
  ended_at: Date | null;
  /** Since when it waits for the approval of a tool call; its status is `running`. */
  parked_at: Date | null;
}

type StoredRow = {
  [K in keyof TurnRow]: TurnRow[K] extends Date | string | number | boolean | null ? TurnRow[K] : string | null;
};

/** One turn of an organization. The caller must check the scope. */
export async function getTurn(db: Db, organization: string, turnId: string): Promise<TurnRow | undefined> {
  if (!isUuid(turnId)) return undefined;
  const [row] = await db.query<StoredRow>(
    `select t.id, t.thread_id, t.organization_id, t.scope, t.model, t.streamed, t.status, t.input, t.prompt_blob, t.said,
            t.finish_reason, t.usage, t.error, t.code, t.agent, t.asked, t.frames, k.wrapped as wrapped_key, t.command_id,
            t.attempt, t.ends_by, t.started_at, t.ended_at, t.parked_at
     from read.turns t left join log.keys k on k.thing = 'turn-' || t.id where t.id = $2 and t.organization_id = $1`,
    [organization, turnId],
  );
  if (!row) return undefined;
  return {
    ...row,
    model: decode(row.model),
    input: decodeOrNull(row.input),
    said: decodeOrNull(row.said),
    usage: decodeOrNull(row.usage),
    error: decodeOrNull(row.error),
    code: decodeOrNull(row.code),
    agent: decodeOrNull(row.agent),
    asked: decodeOrNull(row.asked),
  };
}

/**
 * Which of these turns run. A turn that this read model does not have yet counts as running: its data key exists until it is
 * deleted. While the projection lags, thousands of waiting requests ask for such turns.
 */
export async function filterRunningTurns(db: Db, ids: string[]): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    `select asked.id from unnest($1::uuid[]) as asked(id)
     left join lateral (select status from read.turns where id = asked.id offset 0) t on true
     where t.status = 'running'
       or (t.status is null and exists (select from log.keys where thing = 'turn-' || asked.id offset 0))`,
    [ids],
  );
  return rows.map(({ id }) => id);
}

/** The turns of a scope, in any thread, whose ids lie in one of these ranges, with the bytes of their answers. */
export const findTurnsBetween = (
  db: Db,
  organization: string,
  scope: string,
  ranges: { first: string; last: string }[],
): Promise<{ id: string; bytes: number }[]> =>
  db.query(
    `select distinct t.id, (coalesce(octet_length(t.said), 0) + coalesce((
       select sum(octet_length(r.said) + octet_length(r.calls)) from read.turn_rounds r where r.turn_id = t.id), 0))::integer as bytes
     from unnest($3::uuid[], $4::uuid[]) as range(first, last)
     join read.turns t on t.id between range.first and range.last
     where t.organization_id = $1 and t.scope = $2 and t.agent is not null and t.status <> 'refused'`,
    [organization, scope, ranges.map(({ first }) => first), ranges.map(({ last }) => last)],
  );

/** The id of the turn that the event at this position started. */
export async function findTurnStartedAt(
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

/** The status of the turn that the event at this position started; undefined if it was deleted. */
export async function findStatusStartedAt(
  db: Db,
  organization: string,
  thread: string,
  position: number,
): Promise<TurnRow["status"] | undefined> {
  const [row] = await db.query<Pick<TurnRow, "status">>(
    "select status from read.turns where thread_id = $2 and organization_id = $1 and position = $3",
    [organization, thread, position],
  );
  return row?.status;
}

/** One model call that requested tools, with the status of each tool call. */
export interface RoundRow {
  said: TurnOutput;
  calls: ToolCall[];
  /** By index of the call; undefined while it runs. */
  statuses: ("completed" | "failed" | undefined)[];
}

/** The rounds of a turn in order; empty if it was erased. */
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
    const toolCalls = decode<ToolCall[]>(calls);
    return [
      {
        said: decode<TurnOutput>(said),
        calls: toolCalls,
        statuses: toolCalls.map((_, n) => statuses[n] as "completed"),
      },
    ];
  });
}

/** The newest turn of a thread that was not refused. */
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
 * Finds the newest response, among 1,000 of a scope, with this id among its tool calls; undefined if the caller runs that tool.
 * Some providers reuse ids. `offset 0` makes PostgreSQL look turn by turn: 3 ms at 100,000 turns, where a join took 100 ms.
 */
export async function findTurnByCall(
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
  const found = rows.flatMap(({ id, calls }) => decode<ToolCall[]>(calls).map((call) => ({ turn: id, ...call })));
  const newest = found.find(({ id }) => id === call_id)?.turn;
  return found.some(({ turn, id, client }) => turn === newest && id === call_id && client) ? undefined : newest;
}
