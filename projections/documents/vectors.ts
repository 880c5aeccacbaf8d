import type { Db } from "../projection.ts";

/** Documents per query. */
const BATCH = 20;

/** Who pays for a document's vectors: as budgets count them, its key's project if it has none of its own. */
interface Payer {
  principal: string | null;
  project_id: string | null;
}
const PROJECT = "coalesce(s.project_id, p.project_id)";

/** Other live documents of an organization, of other payers, without vectors of this space. Newest first. */
export const findWithoutVectors = (
  db: Db,
  organization: string,
  { space, except, exceptPayers }: { space: string; except: string[]; exceptPayers: Payer[] },
): Promise<(Payer & { id: string })[]> =>
  db.query(
    `select d.id, s.principal, ${PROJECT} as project_id from read.documents d
     left join read.usage_sources s on s.id = d.id and s.generation = d.live_generation
     left join read.usage_projects p on p.organization_id = $1 and p.owner = s.principal
     where d.organization_id = $1 and d.live_generation is not null
       and (d.vector_space is distinct from $2 or d.vector_generation is distinct from d.live_generation)
       and d.id <> all ($3::uuid[])
       and not exists (select from unnest($4::text[], $5::uuid[]) e (principal, project_id)
         where e.principal is not distinct from s.principal and e.project_id is not distinct from ${PROJECT})
     order by d.created_at desc limit ${BATCH}`,
    [
      organization,
      space,
      except,
      exceptPayers.map(({ principal }) => principal),
      exceptPayers.map(({ project_id }) => project_id),
    ],
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
