import type { Db } from "../projection.ts";
import { FROM_DOCUMENTS } from "./query.ts";

/** A readable text of a document. */
export interface VersionRow {
  generation: number;
  /** Whether search shows it. */
  is_live: boolean;
  page_count: number | null;
  chunk_count: number;
}

/** The stored versions, newest first; empty before the first one is live. */
export const listVersions = (db: Db, organization: string, id: string): Promise<VersionRow[]> =>
  db.query(
    `select r.generation, r.generation = d.live_generation as is_live, r.page_count, r.chunk_count
     ${FROM_DOCUMENTS} join read.readings r on r.document_id = d.id and r.generation <= d.live_generation
     where d.organization_id = $1 and d.id = $2 order by r.generation desc`,
    [organization, id],
  );
