import type { Actor } from "#events/runOrigin.ts";
import { runScope } from "#events/scope.ts";
import { isHeld } from "../holds/query.ts";
import { encode, type Db } from "../projection.ts";
import { isStartedBy } from "./query.ts";

/* The runs of somebody: those that a person or key has started, or that carry the mark of an external user; what continues one
of these, retries or forks it; and what such a run has started. All of them work on what somebody gave to the first one. */

/** Runs that are cancelled or destroyed together. */
const BATCH = 50;
/** Runs from which one statement begins: what comes from them is looked up run by run. */
const FIRST = 500;
/** Looked at once, before each run is. */
const HAS_HOLDS = "(select exists (select from read.holds where organization_id = $1 and released_at is null))";
/** No other run comes from it. A join, which PostgreSQL makes of "not exists", would read the runs of all organizations. */
const IS_LAST = `(select c.id from read.runs c where c.starter_id = o.id limit 1) is null
  and (select c.id from read.runs c where c.parent_id = o.id limit 1) is null`;
/** The rows `o` of the table `owned`, looked up one by one for the same reason. */
const OWNED_ROWS = "owned cross join lateral (select * from read.runs where id = owned.id limit 1) o";

/** `run_ids`: runs of older releases, which have no mark of the user. `from`: what comes from these runs (ids), which may be destroyed. */
export type RunOwner =
  | { started_by: Pick<Actor, "type" | "id"> }
  | { user_mark: string; run_ids: string[] }
  | { from: string[] };

/** The owner behind `key:<id>` or `person:<id>`, or behind `user:<mark>` with its scopes. Undefined: one that has no runs. */
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
  /** The position before which the first runs were created. */
  before: number;
}

/** The runs that one of the table `f` has started, or that continue it, retry or fork it. */
const comesFrom = (f: string): string => `(select * from read.runs where starter_id = ${f}.id and organization_id = $1
  union all select * from read.runs where parent_id = ${f}.id and organization_id = $1)`;

/** The runs `o` of an owner, as SQL with the values $1 to $3, and $4 where ids are named. */
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
  // named only where there are some: otherwise the index of marks would not do
  const named = owner.run_ids.length > 0 ? " or o.id = any ($4::uuid[])" : "";
  return {
    from: `${rows} and (o.user_mark = $3${named})`,
    values: [organization, before, owner.user_mark, ...(named ? [owner.run_ids] : [])],
  };
}

/** A table `owned` of ids: these runs, and all that come from one of them, also later ones. */
const owned = (first: string): string => `owned as (
    (select o.id from ${first})
    union
    select c.id from owned o cross join lateral ${comesFrom("o")} c)`;

/** Runs of an external user that older releases have started without a mark. */
export async function listUnmarkedRuns(db: Db, organization: string, user: string): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    "select id from read.runs where organization_id = $1 and user_mark is null and external_user_id = $2",
    [organization, encode(user)],
  );
  return rows.map(({ id }) => id);
}

/** Ids of the runs of somebody, newest first, after the given one. */
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

/** The table `mine` of the runs that an erasure of somebody would look at, also of those that a hold keeps. */
export function ownedRunsTable(query: Query): { tables: string; values: unknown[] } {
  const { from, values } = startedBy(query);
  const held = isHeld("runs");
  const tables = `${owned(`${from} and not ${held}`)},
    mine as (select o.* from ${OWNED_ROWS} union select o.* from ${from} and ${HAS_HOLDS} and ${held})`;
  return { tables, values };
}

/**
 * Some runs of somebody that no hold covers: those that are live, and those that have ended and that no other one of them comes
 * from, because it would not be found without them. `held`: a hold covers another one.
 */
export async function listRunsToErase(
  db: Db,
  query: Query,
): Promise<{ live: string[]; ended: string[]; held: boolean }> {
  const { from, values } = startedBy(query);
  const held = isHeld("runs");
  const part = (kind: string, where: string) =>
    `(select o.id, '${kind}' as kind from mine o where ${where} order by o.position limit ${BATCH})`;
  // one statement, so that a hold which comes or goes meanwhile cannot hide a run from all parts
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
