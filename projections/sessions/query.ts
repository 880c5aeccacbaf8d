import type { Role } from "#events/user.ts";
import { decoded, type Db } from "../projection.ts";

export interface SessionRow {
  session_id: string;
  user_id: string;
  organization_id: string;
  role: Role;
  email: string;
  name: string;
  organization_name: string;
  /** The absolute end, whatever the use. */
  expires_at: Date;
  /** When it was last used (`ops.last_used`, by session id), else when it started. */
  idle_since: Date;
  /** Something about this session or its user cannot be followed: what the row says may be old. */
  parked: boolean;
}

/** The session whose token has this SHA-256 (hex), unless all of its user's have ended; expiry is for the caller to check. */
export async function findSessionByTokenHash(db: Db, tokenHash: string): Promise<SessionRow | undefined> {
  const [row] = await db.query<SessionRow>(
    `select s.id as session_id, s.user_id, s.organization_id, u.role, u.email, u.name, o.name as organization_name,
            s.expires_at, coalesce(l.at, s.started_at) as idle_since,
            exists (select from log.parked p where (p.projection = 'sessions' and p.stream = 'session-' || s.id)
                                                or (p.projection in ('sessions', 'users')
                                                    and p.stream = 'organization-' || s.organization_id)) as parked
     from read.sessions s
     join read.users u on u.id = s.user_id
     join read.organizations o on o.id = s.organization_id
     left join ops.last_used l on l.id = s.id::text
     where s.token_hash = $1 and u.active and s.epoch = u.epoch`,
    [tokenHash],
  );
  if (!row) return undefined;
  return {
    ...row,
    email: decoded(row.email),
    name: decoded(row.name),
    organization_name: decoded(row.organization_name),
  };
}
