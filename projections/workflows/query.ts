import { isUuid } from "#events/ids.ts";
import type { Envelope } from "#events/workflow.ts";
import { decoded, type Db } from "../projection.ts";

export interface WorkflowRow {
  id: string;
  organization_id: string;
  definition_id: string;
  definition_version: number;
  project_id: string | null;
  enabled: boolean;
  envelope: Envelope;
  /** Counts the envelopes that it has had. */
  envelope_version: number;
  name: string;
  description: string;
  /** Principal who registered it. */
  created_by: string;
  created_at: Date;
  updated_at: Date;
  /** Its changes cannot be followed: what the row says may be old. */
  parked: boolean;
}

const FROM = "from read.workflows w join log.keys k on k.thing = 'workflow-' || w.id";
const SELECT = `select w.id, w.organization_id, w.definition_id, w.definition_version, w.project_id, w.enabled, w.envelope, w.envelope_version,
    w.name, w.description, w.created_by, w.created_at, w.updated_at,
    exists (select from log.parked p where p.projection = 'workflows' and p.stream = 'workflow-' || w.id) as parked
  ${FROM}`;
type Stored = Omit<WorkflowRow, "envelope"> & { envelope: string };
const present = (row: Stored): WorkflowRow => ({
  ...row,
  envelope: decoded(row.envelope),
  name: decoded(row.name),
  description: decoded(row.description),
});

export async function getWorkflow(db: Db, organization: string, id: string): Promise<WorkflowRow | undefined> {
  if (!isUuid(id)) return undefined;
  const [row] = await db.query<Stored>(`${SELECT} where w.id = $2 and w.organization_id = $1`, [organization, id]);
  return row && present(row);
}

/** In the order they were registered. */
export async function listWorkflows(
  db: Db,
  organization: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: WorkflowRow[]; total: number }> {
  const where = "where w.organization_id = $1";
  const rows = await db.query<Stored>(`${SELECT} ${where} order by w.created_at, w.id limit $2 offset $3`, [
    organization,
    limit,
    offset,
  ]);
  const [count] = await db.query<{ total: number }>(`select count(*)::integer as total ${FROM} ${where}`, [
    organization,
  ]);
  return { rows: rows.map(present), total: count!.total };
}
