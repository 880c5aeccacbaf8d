import type { Db } from "#projections/projection.ts";

/** The work that one process of a deployment does at a time, by the name of its lock. */
export const FOLLOWERS = ["projector", "scrubbing", "relay", "feed", "passages", "clean-up"] as const;
export type Follower = (typeof FOLLOWERS)[number];

const HOLDERS = `
  select n.name, a.application_name as worker
    from pg_locks l join pg_stat_activity a on a.pid = l.pid
    join unnest($1::text[]) n(name)
      on l.objsubid = 2 and l.classid::bigint = hashtext('svc')::bigint & 4294967295
         and l.objid::bigint = hashtext(n.name)::bigint & 4294967295
   where l.locktype = 'advisory' and l.granted
     and l.database = (select oid from pg_database where datname = current_database())`;

/** Pids of the processes that do each of them now, from the names of their connections. */
export async function activeFollowers(db: Db): Promise<Record<Follower, number[]>> {
  const rows = await db.query<{ name: Follower; worker: string }>(HOLDERS, [FOLLOWERS]);
  const parsePid = (worker: string) => Number(/-(\d+)-[0-9a-f]{8}$/.exec(worker)![1]);
  const pidsFor = (follower: Follower) =>
    rows.filter(({ name }) => name === follower).map(({ worker }) => parsePid(worker));
  return Object.fromEntries(FOLLOWERS.map((name) => [name, pidsFor(name)])) as Record<Follower, number[]>;
}
