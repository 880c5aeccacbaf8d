import type { AttemptCount, LoginAttempts } from "#http/base/ports.ts";
import type { Db } from "#projections/projection.ts";

export const openLoginAttempts = (db: Db): LoginAttempts => ({
  // Insert first, then count: a lock per subject would hold a connection for each waiting sign-in.
  async record(subjects, windowSeconds) {
    const inserted = await db.query<{ id: string }>(
      `with old as (delete from ops.login_attempts where at < now() - interval '1 day' and subject = any ($1))
       insert into ops.login_attempts (subject) select unnest($1::text[]) returning ctid::text as id`,
      [subjects],
    );
    const counts = await db.query<AttemptCount>(
      `select subject, count(*)::integer as attempts,
              ceil($2::integer - extract(epoch from now() - min(at)))::integer as seconds_left
       from ops.login_attempts where subject = any ($1) and at > now() - make_interval(secs => $2::integer) group by subject`,
      [subjects, windowSeconds],
    );
    return { ids: inserted.map(({ id }) => id), counts };
  },
  async withdraw(ids, subjects) {
    await db.query("delete from ops.login_attempts where ctid = any ($1::tid[]) and subject = any ($2)", [
      ids,
      subjects,
    ]);
  },
  async clear({ account, address }) {
    await db.query(
      `delete from ops.login_attempts where subject = $1
         or ctid = (select ctid from ops.login_attempts where subject = $2 order by at desc limit 1)`,
      [account, address ?? null],
    );
  },
});
