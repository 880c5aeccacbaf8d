import type { Role } from "#events/user.ts";
import { decode, type Db } from "../projection.ts";

export interface SessionRow {
  session_id: string;
  user_id: string;
  organization_id: string;
  role: Role;
  email: string;
  name: string;
  organization_name: string;
  /** The session ends at this time even if it is in use. */
  expires_at: Date;
  /** The last use (`ops.last_used`, by session id), otherwise the start. */
  idle_since: Date;
  /** Later changes of the session or its user could not be projected, so the row may be outdated. */
  parked: boolean;
}

/**
 * Sessions by the SHA-256 (hex) of their tokens, unless all sessions of their user were ended. The caller checks expiry. Never cache
 * them: a session that was ended must stop working at once.
 */
export async function findSessionsByTokenHash(db: Db, hashes: string[]): Promise<Map<string, SessionRow>> {
  const rows = await db.query<SessionRow & { token_hash: string }>(
    `select s.token_hash, s.id as session_id, s.user_id, s.organization_id, u.role, u.email, u.name, o.name as organization_name,
            s.expires_at, coalesce(l.at, s.started_at) as idle_since,
            exists (select from log.parked p where (p.projection = 'sessions' and p.stream = 'session-' || s.id)
                                                or (p.projection in ('sessions', 'users')
                                                    and p.stream = 'organization-' || s.organization_id)) as parked
     from read.sessions s
     join read.users u on u.id = s.user_id
     join read.organizations o on o.id = s.organization_id
     left join ops.last_used l on l.id = s.id::text
     where s.token_hash = any ($1) and u.active and s.epoch = u.epoch`,
    [hashes],
  );
  return new Map(
    rows.map(({ token_hash, email, name, organization_name, ...row }) => [
      token_hash,
      { ...row, email: decode(email), name: decode(name), organization_name: decode(organization_name) },
    ]),
  );
}

/** Ids of a person's sessions that are not among the `keep` that were used last; at most `limit`. */
export async function findUnusedSessions(
  db: Db,
  user: string,
  { keep, limit }: { keep: number; limit: number },
): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    `select s.id from read.sessions s left join ops.last_used l on l.id = s.id::text
     where s.user_id = $1 order by coalesce(l.at, s.started_at) desc, s.id offset $2 limit $3`,
    [user, keep, limit],
  );
  return rows.map(({ id }) => id);
}
