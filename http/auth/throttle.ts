import { createHash } from "node:crypto";
import type { Db } from "#projections/projection.ts";
import { ApiError } from "../errors.ts";

const WINDOW_SECONDS = 15 * 60;
const PER_ACCOUNT = 10;
const PER_ADDRESS = 50;

// what is kept shows neither address nor account
const subject = (kind: string, value: string): string =>
  `${kind}:${createHash("sha256").update(value).digest("base64url")}`;

interface Counted {
  subject: string;
  tries: number;
  /** Seconds until the oldest try no longer counts. */
  wait: number;
}

/**
 * Counts this sign-in before it is checked. It is written down first and counted then, with all that were, so that of many at
 * once no more get through than one after the other; taking turns at a row would hold a connection for each that waits.
 * Throws 429 `too_many_attempts`.
 */
export async function countAttempt(db: Db, address: string, email: string): Promise<void> {
  const subjects = [subject("address", address), subject("account", email)];
  const noted = await db.query<{ place: string }>(
    `with old as (delete from ops.login_attempts where at < now() - interval '1 day' and subject = any ($1))
     insert into ops.login_attempts (subject) select unnest($1::text[]) returning ctid::text as place`,
    [subjects],
  );
  const rows = await db.query<Counted>(
    `select subject, count(*)::integer as tries, ceil(${WINDOW_SECONDS} - extract(epoch from now() - min(at)))::integer as wait
     from ops.login_attempts where subject = any ($1) and at > now() - make_interval(secs => ${WINDOW_SECONDS}) group by subject`,
    [subjects],
  );
  const over = rows.find((row) => row.tries > (row.subject === subjects[0] ? PER_ADDRESS : PER_ACCOUNT));
  if (!over) return;
  // one that is refused does not make the next wait longer
  await db.query("delete from ops.login_attempts where ctid = any ($1::tid[]) and subject = any ($2)", [
    noted.map(({ place }) => place),
    subjects,
  ]);
  throw new ApiError("too_many_attempts", "There were too many attempts to sign in; try again later.", {
    retryAfterMs: Math.max(1, over.wait) * 1000,
  });
}

/** The right password was given: this account's earlier tries no longer count, nor does this one for its address. */
export async function clearAttempts(db: Db, address: string, email: string): Promise<void> {
  await db.query(
    `delete from ops.login_attempts where subject = $1
       or ctid = (select ctid from ops.login_attempts where subject = $2 order by at desc limit 1)`,
    [subject("account", email), subject("address", address)],
  );
}
