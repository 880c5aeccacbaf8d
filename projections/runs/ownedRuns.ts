import type { Actor } from "#events/runOrigin.ts";
import { runScope } from "#events/scope.ts";
import { existsHoldOn } from "../holds/query.ts";
import { encode, type Db } from "../projection.ts";
import { isStartedBy } from "./query.ts";

/*
 * Finds somebody's runs: those started by a person or key, or with the mark of an external user; runs that continue, retry or fork
 * one of these; and runs started by any of them. All of them work on data of the first one.
 */

/** Maximum runs that are cancelled or destroyed together. */
const BATCH = 50;
/** Maximum runs at which one statement begins; the runs derived from them are looked up one by one. */
const FIRST = 500;
/** Evaluated once, before looking at each run. */
const HAS_HOLDS = "(select exists (select from read.holds where organization_id = $1 and released_at is null))";
/** SQL: no other run is derived from it. With "not exists", PostgreSQL would make a join that reads the runs of all organizations. */
const IS_LAST = `(select c.id from read.runs c where c.starter_id = o.id limit 1) is null
  and (select c.id from read.runs c where c.parent_id = o.id limit 1) is null`;
/** SQL: the rows `o` of the table `owned`, looked up one by one for the same reason. */
const OWNED_ROWS = "owned cross join lateral (select * from read.runs where id = owned.id limit 1) o";

/** `run_ids`: runs of older releases, which lack the user's mark. `from`: ids of runs, which may be destroyed, whose derived runs are wanted. */
export type RunOwner =
  | { started_by: Pick<Actor, "type" | "id"> }
  | { user_mark: string; run_ids: string[] }
  | { from: string[] };

/** The owner of runs behind `key:<id>` or `person:<id>`, or behind `user:<mark>` with its scopes. Undefined if the owner cannot have runs. */
export function runOwnerOf(owner: string, scopes: string[] = []): RunOwner | undefined {
  const at = owner.indexOf(":");
  const [kind, id] = [owner.slice(0, at), owner.slice(at + 1)];
  if (kind === "user") {
    const prefix = runScope("");
    const run_ids = scopes.filter((scope) => scope.startsWith(prefix)).map((scope) => scope.slice(prefix.length));
    return { user_mark: id, run_ids };
  }
  if (kind === "person") return { started_by: { type: "person", id } };
  return kind === "key" ? { started_by: { type: "api_key", id } } : undefined;
}

interface Query {
  organization: string;
  owner: RunOwner;
  /** The log position before which the first runs were created. */
  before: number;
}

/** SQL: the runs that a run of the table `f` has started, and those that continue, retry or fork it. */
const comesFrom = (f: string): string => `(select * from read.runs where starter_id = ${f}.id and organization_id = $1
  union all select * from read.runs where parent_id = ${f}.id and organization_id = $1)`;

/** SQL: the runs `o` of an owner, with the values $1 to $3, and $4 if there are ids. */
function startedBy({ organization, owner, before }: Query): { from: string; values: unknown[] } {
  const rows = "read.runs o where o.organization_id = $1 and o.position < $2::bigint";
  if ("started_by" in owner) {
    const { type, id } = owner.started_by;
    return {
      from: `${rows} and ${isStartedBy("$3", "o")}`,
      values: [organization, before, encode({ type, id })],
    };
  }
  if ("from" in owner) {
    const from = `unnest($3::uuid[]) f (id) cross join lateral ${comesFrom("f")} o where o.position < $2::bigint`;
    return { from, values: [organization, before, owner.from] };
  }
  // only if there are ids, because otherwise PostgreSQL would not use the index of marks
  const named = owner.run_ids.length > 0 ? " or o.id = any ($4::uuid[])" : "";
  return {
    from: `${rows} and (o.user_mark = $3${named})`,
    values: [organization, before, owner.user_mark, ...(named ? [owner.run_ids] : [])],
  };
}

/** SQL: a table `owned` of ids: these runs, and all derived from one of them, including later ones. */
const owned = (first: string): string => `owned as (
    (select o.id from ${first})
    union
    select c.id from owned o cross join lateral ${comesFrom("o")} c)`;

/** Runs of an external user that older releases started without a mark. */
export async function listUnmarkedRuns(db: Db, organization: string, user: string): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    "select id from read.runs where organization_id = $1 and user_mark is null and external_user_id = $2",
    [organization, encode(user)],
  );
  return rows.map(({ id }) => id);
}

/** Ids of somebody's runs, newest first, after the given one. */
export async function listOwnedRunIds(
  db: Db,
  query: Query,
  { after, limit }: { after: number | null; limit: number },
): Promise<{ id: string; position: number }[]> {
  const { from, values } = startedBy(query);
  const until = values.length + 1;
  const rows = await db.query<{ id: string; position: number }>(
    `with recursive ${owned(from)} select o.id, o.position from ${OWNED_ROWS}
       where o.position < $${until} order by o.position desc limit $${until + 1}`,
    [...values, after ?? query.before, limit],
  );
  return rows.map(({ id, position }) => ({ id, position: Number(position) }));
}

/** SQL: the table `mine` of all runs that an erasure of somebody covers, including held ones. */
export function ownedRunsTable(query: Query): { tables: string; values: unknown[] } {
  const { from, values } = startedBy(query);
  const held = existsHoldOn("runs");
  const tables = `${owned(`${from} and not ${held}`)},
    mine as (select o.* from ${OWNED_ROWS} union select o.* from ${from} and ${HAS_HOLDS} and ${held})`;
  return { tables, values };
}

/**
 * A batch of somebody's runs that no hold covers: live ones, and ended ones from which no other run is derived, because those would
 * no longer be found. `held`: a hold covers further ones.
 */
export async function listRunsToErase(
  db: Db,
  query: Query,
): Promise<{ live: string[]; ended: string[]; held: boolean }> {
  const { from, values } = startedBy(query);
  const held = existsHoldOn("runs");
  const part = (kind: string, where: string) =>
    `(select o.id, '${kind}' as kind from mine o where ${where} order by o.position limit ${BATCH})`;
  // a single statement, so that a hold placed or released meanwhile cannot hide a run from all parts
  const rows = await db.query<{ id: string; kind: "live" | "ended" | "held" }>(
    `with recursive ${owned(`${from} and not ${held} order by o.created_at, o.id limit ${FIRST}`)},
       mine as (select o.*, ${held} as held from ${OWNED_ROWS})
     ${part("live", "not held and completed_at is null")} union all
     ${part("ended", `not held and completed_at is not null and ${IS_LAST}`)} union all
     ${part("held", "held")} union all
     (select o.id, 'held' as kind from ${from} and ${HAS_HOLDS} and ${held} limit 1)`,
    values,
  );
  const idsOf = (kind: string): string[] => rows.flatMap((row) => (row.kind === kind ? [row.id] : []));
  return { live: idsOf("live"), ended: idsOf("ended"), held: rows.some(({ kind }) => kind === "held") };
}
