import { decode, type Db } from "../projection.ts";

export interface ListedWaits {
  waits: { run_id: string; key: string; match: Record<string, unknown>; position: number }[];
  /** Whether there are further ones. */
  more: boolean;
  /** The log position up to which waits are known. */
  projected: number;
}

/** Maximum bytes of conditions per query, but always the oldest wait: each condition may have 256 KiB. */
const PAGE_BYTES = 2_000_000;

/** The waits of an organization, or of a project, for messages of a name, between two log positions. Oldest first. */
export async function listMessageWaits(
  db: Db,
  organization: string,
  query: { project_id: string | null; name: string; after: number; position: number; limit: number },
): Promise<ListedWaits> {
  // a single statement, so that rows and position are of the same moment
  const { project_id, name, after, position, limit } = query;
  const rows = await db.query<{
    projected: number;
    run_id: string | null;
    key: string;
    match: string;
    position: number;
    found: string;
  }>(
    `select coalesce((select c.position from log.checkpoints c where c.name = 'runs'), 0) as projected, w.run_id, w.key, w.match, w.position, w.found
     from (select) one left join (
       select page.*, count(*) over () as found, sum(octet_length(match)) over (order by position) as size from (
         select run_id, key, match, position from read.message_waits
         where organization_id = $1 and name = $2 and position > $6 and position < $3 and ($4::uuid is null or project_id = $4)
         order by position limit $5) page
     ) w on w.size - octet_length(w.match) < ${PAGE_BYTES}
     order by w.position`,
    [organization, JSON.stringify(name), position, project_id, limit, after],
  );
  const waits = rows.flatMap(({ run_id, key, match, position: began }) =>
    run_id === null ? [] : [{ run_id, key, match: decode<Record<string, unknown>>(match), position: Number(began) }],
  );
  const found = Number(rows[0]?.found ?? 0);
  return { waits, more: found === limit || waits.length < found, projected: Number(rows[0]?.projected ?? 0) };
}
