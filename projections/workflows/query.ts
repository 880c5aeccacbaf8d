import { isUuid } from "#events/ids.ts";
import type { Envelope } from "#events/workflow.ts";
import { decode, decoded, type Db } from "../projection.ts";

export interface WorkflowRow {
  id: string;
  organization_id: string;
  definition_id: string;
  /** Null where the definition is gone. */
  definition_name: string | null;
  definition_version: number;
  /** The definition's newest; null where it is gone. */
  latest_version: number | null;
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
const SELECT = `select w.id, w.organization_id, w.definition_id, d.name as definition_name, w.definition_version, d.version as latest_version, w.project_id, w.enabled, w.envelope, w.envelope_version,
    w.name, w.description, w.created_by, w.created_at, w.updated_at,
    exists (select from log.parked p where p.projection = 'workflows' and p.stream = 'workflow-' || w.id) as parked
  ${FROM} left join read.definitions d on d.id = w.definition_id and d.organization_id = w.organization_id`;
type Stored = Omit<WorkflowRow, "envelope"> & { envelope: string };
const present = (row: Stored): WorkflowRow => ({
  ...row,
  definition_name: decode(row.definition_name),
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

/** What is counted of a workflow. */
export interface Tally {
  /** Triggers that are enabled. */
  triggers: number;
  /** Runs that are pending or running. */
  live: number;
  /** All runs that are there. */
  total: number;
}

/** Of each of the workflows, by id. */
export async function tallyWorkflows(db: Db, workflows: string[]): Promise<Map<string, Tally>> {
  const rows = await db.query<Tally & { id: string }>(
    `select w.id,
       (select count(*) from read.triggers where workflow_id = w.id and enabled)::integer as triggers,
       (select count(*) from read.runs where workflow_id = w.id and status in ('pending', 'running'))::integer as live,
       (select count(*) from read.runs where workflow_id = w.id)::integer as total
     from unnest($1::uuid[]) w (id)`,
    [workflows],
  );
  return new Map(rows.map(({ id, ...tally }) => [id, tally]));
}

/** What holds a definition in place: workflows that may start runs on it, and runs that are on it now. */
export async function usesOf(
  db: Db,
  organization: string,
  definition: string,
): Promise<{ enabled: number; live: number }> {
  const [uses] = await db.query<{ enabled: number; live: number }>(
    `select count(*) filter (where w.enabled)::integer as enabled, coalesce(sum(r.live), 0)::integer as live
     ${FROM} cross join lateral (select count(*) as live from read.runs
                                 where workflow_id = w.id and status in ('pending', 'running')) r
     where w.organization_id = $1 and w.definition_id = $2`,
    [organization, definition],
  );
  return uses!;
}
