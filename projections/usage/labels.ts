import type { Db } from "../projection.ts";

/** The name of a label, and its number of turns. */
export interface LabelRow {
  label: string;
  turns: number;
}

/** Labels repeat, so the turns of equal JSON texts are summed before parsing. */
const NAMES = `select n.label, sum(g.turns)::bigint as turns from (
    select s.labels, sum(u.turns) as turns from read.usage u
    join read.usage_sources s on s.id = u.source_id and s.generation = u.generation
    where u.organization_id = $1 and u.at >= $2 and u.at < $3 and s.labels is not null group by 1
  ) g, jsonb_object_keys(g.labels::jsonb) n(label) group by 1 having sum(g.turns) > 0`;

interface LabelQuery {
  from: Date;
  to: Date;
  limit: number;
  offset: number;
}

/** Names of the labels of an organization's turns that ended, `from` inclusive, `to` exclusive, most used first. */
export async function listLabels(
  db: Db,
  organization: string,
  { from, to, limit, offset }: LabelQuery,
): Promise<{ rows: LabelRow[]; total: number }> {
  const [row] = await db.query<{ total: number; rows: LabelRow[] | null }>(
    `with names as (${NAMES}), page as (select * from names order by turns desc, label limit $4 offset $5)
     select (select count(*)::integer from names) as total,
       (select json_agg(page order by turns desc, label) from page) as rows`,
    [organization, from, to, limit, offset],
  );
  return { rows: row!.rows ?? [], total: row!.total };
}
