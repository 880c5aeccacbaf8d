import type { LastUses } from "#http/base/ports.ts";
import type { Db } from "#projections/projection.ts";

export const openLastUses = (db: Db): LastUses => ({
  async save(uses) {
    // ordered, so that two processes saving at the same time cannot deadlock
    await db.query(
      `insert into ops.last_used as old (id, at)
       select * from unnest($1::text[], $2::timestamptz[]) as n (id, at) order by id
       on conflict (id) do update set at = greatest(old.at, excluded.at)`,
      [[...uses.keys()], [...uses.values()]],
    );
  },
});
