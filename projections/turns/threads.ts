import { isUuid } from "#events/ids.ts";
import { ownerScope, runScope } from "#events/scope.ts";
import type { Principal } from "#events/envelope.ts";
import { decode, decodeOrNull, type Db } from "../projection.ts";
import { ownerColumn, type OwnedPage, type Owner } from "../owner.ts";

/** A thread with turns. Threads of runs are not included. */
export interface ThreadRow {
  id: string;
  /** Log position of the event that opened it, which orders threads. */
  position: number;
  principal: Principal;
  scope: string;
  agent_id: string | null;
  /** The first words of its first user message; null if there are none. */
  title: string | null;
  /** Model of its newest turn. */
  model: string;
  status: "running" | "completed" | "failed" | "stopped";
  /** Counted up to MAX_COUNTED. */
  turns: number;
  newest_turn_id: string;
  created_at: Date;
  updated_at: Date;
}

/** Maximum turns counted per thread, so that the cost of a list does not grow with its threads. */
const MAX_COUNTED = 1_000;

const HAS_TURNS = "exists (select from read.turns where thread_id = h.id and status <> 'refused')";

/** Threads with their turns; `page` selects rows of read.threads as `h`. */
const withTurns = (page: string): string => `
  select h.id, h.position, h.principal, h.scope, h.agent_id, h.created_at, first.title, last.model, last.status, last.newest_turn_id, last.updated_at, n.turns
  from (${page}) h
  cross join lateral (
    select title from read.turns where thread_id = h.id and status <> 'refused' order by position limit 1
  ) first
  cross join lateral (
    select id as newest_turn_id, model, status, coalesce(ended_at, started_at) as updated_at
    from read.turns where thread_id = h.id and status <> 'refused' order by position desc limit 1
  ) last
  cross join lateral (
    select count(*)::integer as turns
    from (select from read.turns where thread_id = h.id and status <> 'refused' limit ${MAX_COUNTED}) counted
  ) n
  order by h.position desc`;

type StoredRow = Omit<ThreadRow, "position" | "title" | "model"> & {
  position: string;
  title: string | null;
  model: string;
};
const parseRow = ({ position, title, model, ...row }: StoredRow): ThreadRow => ({
  ...row,
  position: Number(position),
  title: decodeOrNull(title),
  model: decode(model),
});

/** The agents of a principal's threads, reading one index entry for each. */
async function listAgents(db: Db, organization: string, principal: Principal): Promise<string[]> {
  const next = (after: string) =>
    `select agent_id from read.threads
     where organization_id = $1 and principal = $2 and agent_id is not null${after} order by agent_id limit 1`;
  const rows = await db.query<{ agent_id: string }>(
    `with recursive agents as (
       (${next("")})
       union all
       select (${next(" and agent_id > agents.agent_id")}) from agents where agents.agent_id is not null
     ) select agent_id from agents where agent_id is not null`,
    [organization, principal],
  );
  return rows.map(({ agent_id }) => agent_id);
}

/** The threads of a principal with a user value, in chats and with agents. */
export async function listOwnThreads(
  db: Db,
  organization: string,
  { principal, user }: { principal: Principal; user: string | undefined },
  { before, limit }: OwnedPage,
): Promise<ThreadRow[]> {
  const agents = await listAgents(db, organization, principal);
  const scopes = [ownerScope(principal, user), ...agents.map((agent) => ownerScope(principal, user, agent))];
  return listThreadsIn(db, organization, scopes, { before, limit });
}

/** The threads of these owners. */
export async function listThreadsIn(
  db: Db,
  organization: string,
  scopes: string[],
  { before, limit }: OwnedPage,
): Promise<ThreadRow[]> {
  const page = `select found.* from unnest($2::text[]) as own(scope) cross join lateral (
      select * from read.threads h
      where h.organization_id = $1 and h.scope = own.scope and ($3::bigint is null or h.position < $3) and ${HAS_TURNS}
      order by h.position desc limit $4
    ) found order by found.position desc limit $4`;
  const rows = await db.query<StoredRow>(withTurns(page), [organization, scopes, before, limit]);
  return rows.map(parseRow);
}

/** The threads of an owner, whatever their user value. */
export async function listThreadsOf(
  db: Db,
  organization: string,
  owner: Owner,
  { before, limit }: OwnedPage,
): Promise<ThreadRow[]> {
  const { column, value } = ownerColumn(owner);
  const page = `select * from read.threads h
    where h.organization_id = $1 and h.${column} = $2 and ($3::bigint is null or h.position < $3) and ${HAS_TURNS}
    order by h.position desc limit $4`;
  const rows = await db.query<StoredRow>(withTurns(page), [organization, value, before, limit]);
  return rows.map(parseRow);
}

export async function getThread(db: Db, organization: string, id: string): Promise<ThreadRow | undefined> {
  if (!isUuid(id)) return undefined;
  const page = `select * from read.threads h where h.organization_id = $1 and h.id = $2 and ${HAS_TURNS}`;
  const [row] = await db.query<StoredRow>(withTurns(page), [organization, id]);
  return row && parseRow(row);
}

/** Threads that steps of a run have started. */
export async function listRunThreads(db: Db, organization: string, run_id: string): Promise<string[]> {
  const rows = await db.query<{ thread_id: string }>(
    "select distinct thread_id from read.turns where scope = $1 and scope like 'run:%' and organization_id = $2",
    [runScope(run_id), organization],
  );
  return rows.map(({ thread_id }) => thread_id);
}
