import type { Db } from "#projections/projection.ts";
import type { PageBudget } from "#services/knowledge/reading/pageBudget.ts";

// A single statement: the row's lock orders concurrent requests.
const TAKE = `
  with today as (select (now() at time zone 'utc')::date as day)
  insert into ops.recognized_pages as r (organization_id, day, pages, granted)
  select $1, day, least($2::integer, $3::integer), least($2::integer, $3::integer) from today
  on conflict (organization_id) do update set
    day = excluded.day,
    granted = greatest(0, least($2, $3 - case when r.day = excluded.day then r.pages else 0 end)),
    pages = case when r.day = excluded.day then r.pages else 0 end
      + greatest(0, least($2, $3 - case when r.day = excluded.day then r.pages else 0 end))
  returning granted`;

const GIVE_BACK = `
  update ops.recognized_pages set pages = greatest(0, pages - $2)
  where organization_id = $1 and day = (now() at time zone 'utc')::date`;

/** Counts recognized pages in PostgreSQL; each organization may have `perDay`. */
export const openPageBudget = (db: Db, perDay: number): PageBudget => ({
  async take(organization_id, pages) {
    const [row] = await db.query<{ granted: number }>(TAKE, [organization_id, pages, perDay]);
    return row!.granted;
  },
  async giveBack(organization_id, pages) {
    if (pages > 0) await db.query(GIVE_BACK, [organization_id, pages]);
  },
});
