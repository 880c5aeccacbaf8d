import { isUuid } from "#events/ids.ts";
import type { Message, TurnOutput } from "#events/thread.ts";
import { decodeOrNull, type Db } from "../projection.ts";
import type { TurnRow } from "./query.ts";

/** Whether the scope has a turn in this thread that was not refused. */
export async function threadExists(db: Db, organization: string, thread: string, scope: string): Promise<boolean> {
  if (!isUuid(thread)) return false;
  const rows = await db.query(
    `select from read.turns where thread_id = $2 and organization_id = $1 and scope = $3 and status <> 'refused' limit 1`,
    [organization, thread, scope],
  );
  return rows.length > 0;
}

/** One turn as part of its thread: its input messages, then its answer. */
export interface ThreadTurn {
  turn_id: string;
  /** Of its start in the log. */
  position: number;
  status: Exclude<TurnRow["status"], "refused">;
  /** The messages of the request; null if they are in the blob. */
  input: Message[] | null;
  /** Key of the blob of the whole prompt (JSON with `messages`). */
  prompt_blob: string | null;
  /** The data key of `turn-<id>`, wrapped (base64); null if it was destroyed. */
  wrapped_key: string | null;
  said: TurnOutput | null;
  /** Approximate bytes of its stored text. */
  bytes: number;
  started_at: Date;
  ended_at: Date | null;
}

interface TurnsPage {
  /** The last turn; the newest by default. */
  until?: string;
  /** The position of the turn before the first, which stays valid if that turn is deleted; the thread's beginning by default. */
  after?: number;
  limit?: number;
  /** Maximum bytes of stored text, not counting the first turn. */
  bytes?: number;
}

/** The position of a turn in its thread; undefined if the thread does not have it. */
export async function findTurnPosition(
  db: Db,
  organization: string,
  { id, scope }: { id: string; scope: string },
  turn: string,
): Promise<number | undefined> {
  const rows = await db.query<{ position: number }>(
    "select position::float8 from read.turns where id = $4 and thread_id = $2 and organization_id = $1 and scope = $3",
    [organization, id, scope, turn],
  );
  return rows[0]?.position;
}

/** The turns of a thread in order. Refused turns are left out. */
export async function listTurns(
  db: Db,
  organization: string,
  thread: string,
  scope: string,
  { until, after = 0, limit, bytes }: TurnsPage = {},
): Promise<ThreadTurn[]> {
  if (!isUuid(thread)) return [];
  const rows = await db.query<Omit<ThreadTurn, "input" | "said"> & { input: string | null; said: string | null }>(
    `select t.id as turn_id, t.position::float8, t.status, t.input, t.prompt_blob, k.wrapped as wrapped_key, t.said, t.bytes::float8, t.started_at, t.ended_at
     from (
       select *, sum(bytes) over (order by position) as size, row_number() over (order by position) as nth
       from (
         select *, coalesce(octet_length(input), 0) + coalesce(octet_length(said), 0)
                     + case when prompt_blob is null then 0 else stored_bytes end as bytes
         from read.turns
         where thread_id = $2 and organization_id = $1 and scope = $3 and status <> 'refused' and position > $5
           and ($4::uuid is null or position <= (select position from read.turns where id = $4 and thread_id = $2))
         order by position limit $6
       ) page
     ) t left join log.keys k on k.thing = 'turn-' || t.id
     where $7::bigint is null or t.size <= $7 or t.nth = 1
     order by t.position`,
    [organization, thread, scope, until ?? null, after, limit ?? null, bytes ?? null],
  );
  return rows.map(({ said, ...row }) => ({
    ...row,
    input: decodeOrNull<Message[]>(row.input),
    said: decodeOrNull<TurnOutput>(said),
  }));
}
