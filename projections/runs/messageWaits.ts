import { decode, type Db } from "../projection.ts";

/** Waits that one message answers; those that have waited longest. */
const MAX_WAITS = 10_000;

/** The waits of an organization, or of a project, for messages of a name, before a position of the log. Oldest first. */
export async function listMessageWaits(
  db: Db,
  organization: string,
  { project_id, name, position }: { project_id: string | null; name: string; position: number },
): Promise<{ run_id: string; key: string; match: Record<string, unknown> }[]> {
  const rows = await db.query<{ run_id: string; key: string; match: string }>(
    `select run_id, key, match from read.message_waits
     where organization_id = $1 and name = $2 and position < $3 and ($4::uuid is null or project_id = $4)
     order by position, key limit $5`,
    [organization, JSON.stringify(name), position, project_id, MAX_WAITS],
  );
  return rows.map(({ match, ...wait }) => ({ ...wait, match: decode(match) }));
}
