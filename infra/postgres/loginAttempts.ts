import type { AttemptCount, LoginAttempts } from "#http/base/ports.ts";
import type { Db } from "#projections/projection.ts";

/** Longer than checking a password takes. After this time, an attempt that failed internally or whose process died is ignored. */
const UNJUDGED_SECONDS = 20;
const THESE = "ctid = any ($1::tid[]) and subject = any ($2)";

export const openLoginAttempts = (db: Db): LoginAttempts => ({
  // Inserts first, then counts: a lock per subject would hold a connection for each waiting sign-in.
  async record(subjects, windowSeconds) {
    const inserted = await db.query<{ id: string }>(
      `with old as (delete from ops.login_attempts where at < now() - interval '1 day' and subject = any ($1))
       insert into ops.login_attempts (subject, is_wrong) select unnest($1::text[]), false returning ctid::text as id`,
      [subjects],
    );
    const ids = inserted.map(({ id }) => id);
    const counts = await db.query<AttemptCount>(
      `select subject, count(*)::integer as attempts,
              coalesce(ceil(extract(epoch from min(counts_until) filter (where not is_own) - now())), 0)::integer as seconds_left
       from (select subject, at + make_interval(secs => case when is_wrong then $2::integer else $3 end) as counts_until,
                    ctid = any ($4::tid[]) as is_own
             from ops.login_attempts where subject = any ($1)) attempt
       where counts_until > now() group by subject`,
      [subjects, windowSeconds, UNJUDGED_SECONDS, ids],
    );
    return { recorded: { ids, subjects }, counts };
  },
  async withdraw({ ids, subjects }) {
    await db.query(`delete from ops.login_attempts where ${THESE}`, [ids, subjects]);
  },
  async markWrong({ ids, subjects }) {
    const marked = await db.query<{ id: string }>(
      `update ops.login_attempts set is_wrong = true where ${THESE} returning ctid::text as id`,
      [ids, subjects],
    );
    // an update moves its rows
    return { ids: marked.map(({ id }) => id), subjects };
  },
  async clear({ ids, subjects }, account) {
    await db.query(`delete from ops.login_attempts where ${THESE} or subject = $3`, [ids, subjects, account]);
  },
});
