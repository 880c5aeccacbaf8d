import type { ReadingWarning } from "#events/readingWarnings.ts";
import { decode, type Db } from "../projection.ts";
import { FROM_DOCUMENTS, LIVE_READING } from "./query.ts";

export interface WarnedDocument {
  id: string;
  organization_id: string;
  name: string;
  warnings: ReadingWarning[];
}

/** Documents whose text lacks content of their file, the last changed first. `organization` null: of all organizations. */
export async function listWarnedDocuments(
  db: Db,
  organization: string | null,
  limit: number,
): Promise<WarnedDocument[]> {
  const rows = await db.query<{ id: string; organization_id: string; name: string; warnings: string }>(
    `select d.id, d.organization_id, d.name, r.warnings ${FROM_DOCUMENTS} ${LIVE_READING}
    where r.warnings like '[{%' and ($1::uuid is null or d.organization_id = $1)
    order by d.updated_at desc, d.id limit $2`,
    [organization, limit],
  );
  return rows.map(({ name, warnings, ...row }) => ({ ...row, name: decode(name), warnings: decode(warnings) }));
}
