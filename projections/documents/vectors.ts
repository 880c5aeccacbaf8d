import type { Db } from "../projection.ts";

/** Documents per query. */
const BATCH = 20;

/** Other live documents of an organization, of other payers, without vectors of this space. Newest first. */
export const findWithoutVectors = (
  db: Db,
  organization: string,
  { space, except, exceptPayers }: { space: string; except: string[]; exceptPayers: string[] },
): Promise<{ id: string; principal: string | null }[]> =>
  db.query(
    `select d.id, s.principal from read.documents d
     left join read.usage_sources s on s.id = d.id and s.generation = d.live_generation
     where d.organization_id = $1 and d.live_generation is not null
       and (d.vector_space is distinct from $2 or d.vector_generation is distinct from d.live_generation)
       and d.id <> all ($3::uuid[]) and coalesce(s.principal, '') <> all ($4::text[])
     order by d.created_at desc limit ${BATCH}`,
    [organization, space, except, exceptPayers],
  );

/** Counts the searchable documents, and those of them with vectors of this space. */
export async function countVectors(
  db: Db,
  organization: string,
  space: string,
): Promise<{ documents: number; embedded: number }> {
  const [counts] = await db.query<{ documents: number; embedded: number }>(
    `select count(*)::integer as documents,
       count(*) filter (where vector_space = $2 and vector_generation = live_generation)::integer as embedded
     from read.documents where organization_id = $1 and live_generation is not null`,
    [organization, space],
  );
  return counts!;
}
