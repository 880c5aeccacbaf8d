import { countRows } from "./countRows.ts";
import type { Db } from "./projection.ts";

/** The rows of each kind of thing whose number is limited. Things that are set by name keep their row when they are removed. */
const ROWS = {
  agents: "read.agents where organization_id = $1",
  collections: "read.collections where organization_id = $1",
  definitions: "read.definitions where organization_id = $1",
  erasures: "read.erasures where organization_id = $1 and status = 'running'",
  keys: "read.keys where organization_id = $1",
  prices: "read.prices where organization_id = $1 and prices is not null",
  projects: "read.projects where organization_id = $1",
  providers: "read.providers where organization_id = $1 and sealed_api_key is not null",
  retention_rules: "read.retention where organization_id = $1 and rules is not null",
  secrets: "read.secrets where organization_id = $1 and name is not null",
  // through the collections, because sources have no index by organization
  sources: "read.collections c join read.sources s on s.collection_id = c.id where c.organization_id = $1",
  workflows: "read.workflows where organization_id = $1",
  enabled_workflows: "read.workflows where organization_id = $1 and enabled",
} as const;

export type CountedKind = keyof typeof ROWS;

/** Counts an organization's things of a kind; from `limit` on, it counts no further. */
export const countThings = (db: Db, organization: string, kind: CountedKind, limit: number): Promise<number> =>
  countRows(db, `from (select from ${ROWS[kind]} limit $2) counted`, [organization, limit]);
