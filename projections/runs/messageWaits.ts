import { decode, type Db } from "../projection.ts";

export interface ListedWaits {
  waits: { run_id: string; key: string; match: Record<string, unknown> }[];
  /** Position of the log up to which they are known. */
  projected: number;
}

/** The waits of an organization, or of a project, for messages of a name, before a position of the log. Oldest first. */
export async function listMessageWaits(
  db: Db,
  organization: string,
  { project_id, name, position, limit }: { project_id: string | null; name: string; position: number; limit: number },
): Promise<ListedWaits> {
  // one statement: rows and position are of one moment
  const rows = await db.query<{ projected: number; run_id: string | null; key: string; match: string }>(
    `select coalesce((select c.position from log.checkpoints c where c.name = 'runs'), 0) as projected, w.run_id, w.key, w.match
     from (select) one left join (
       select run_id, key, match, position from read.message_waits
       where organization_id = $1 and name = $2 and position < $3 and ($4::uuid is null or project_id = $4)
       order by position, key limit $5) w on true
     order by w.position, w.key`,
    [organization, JSON.stringify(name), position, project_id, limit],
  );
  const waits = rows.flatMap(({ run_id, key, match }) =>
    run_id === null ? [] : [{ run_id, key, match: decode<Record<string, unknown>>(match) }],
  );
  return { waits, projected: Number(rows[0]?.projected ?? 0) };
}
