import type { Usage } from "#events/thread.ts";
import { decodeOrNull, type Db } from "../projection.ts";
import { CHARACTERS_PER_TOKEN } from "./estimateTokens.ts";
import { decodeModels } from "./query.ts";
import type { Spender } from "./subjects.ts";

/** Maximum turns of the last minute read at a start. A higher rate is known after a minute. */
const MAX_TURNS = 20_000;

export interface TurnState {
  turn_id: string;
  attempt: number;
  ended_at: Date | null;
  /** Since when it waits for a person. */
  parked_at: Date | null;
  tokens: number;
}
interface RecentTurn extends TurnState, Omit<Spender, "organization_id"> {
  started_at: Date;
  streamed: boolean;
  /** Estimated tokens of an unfinished turn: those of its messages, unless they are a blob. */
  expected: number;
}
type StoredTurn = StoredUsage<Omit<RecentTurn, "expected">> & { input_length: number | null };

type StoredUsage<T> = Omit<T, "tokens"> & { usage: string | null };

function withTokens<T>({ usage, ...row }: StoredUsage<T>) {
  const { prompt_tokens = 0, completion_tokens = 0 } = decodeOrNull<Usage>(usage) ?? {};
  return { ...row, tokens: prompt_tokens + completion_tokens };
}

const COLUMNS = `id, started_at, streamed, attempt, ended_at, parked_at, usage,
  case when ended_at is null then length(input) end as input_length`;

/**
 * Turns that began or ended after a moment, and unfinished ones. The tokens of a turn count when it ends, and it may run for an hour.
 * A turn that has waited for a person may have begun days ago.
 */
export async function listRecentTurns(db: Db, organization: string, since: Date): Promise<RecentTurn[]> {
  const rows = await db.query<StoredTurn>(
    `select t.id as turn_id, s.principal, s.project_id, s.agent_id, s.user_mark, s.model,
       t.started_at, t.streamed, t.attempt, t.ended_at, t.parked_at, t.usage, t.input_length
     from (
       select ${COLUMNS} from read.turns
       where organization_id = $1 and started_at >= $2::timestamptz - interval '1 hour'
         and (started_at >= $2 or ended_at >= $2 or (status = 'running' and parked_at is null))
       union all
       select ${COLUMNS} from read.turns
       where organization_id = $1 and resumed_at is not null and started_at < $2::timestamptz - interval '1 hour'
     ) t join read.usage_sources s on s.id = t.id
     order by t.started_at desc limit ${MAX_TURNS}`,
    [organization, since],
  );
  return (await decodeModels(rows)).map(({ input_length, ...row }) => ({
    ...withTokens<Omit<RecentTurn, "expected">>(row),
    expected: Math.ceil((input_length ?? 0) / CHARACTERS_PER_TOKEN),
  }));
}

/** Which of these turns are recorded. */
export async function findTurns(db: Db, organization: string, ids: string[]): Promise<TurnState[]> {
  const rows = await db.query<StoredUsage<TurnState>>(
    `select t.id as turn_id, t.attempt, t.ended_at, t.parked_at, t.usage from unnest($2::uuid[]) as wanted (id)
     cross join lateral (select id, attempt, ended_at, parked_at, usage from read.turns
       where id = wanted.id and organization_id = $1 offset 0) t`,
    [organization, ids],
  );
  return rows.map(withTokens<TurnState>);
}
