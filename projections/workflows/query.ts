import { mapInSlices } from "#events/slices.ts";
import type { Envelope } from "#events/workflow.ts";
import { readPage, type Page, type PageRows } from "../page.ts";
import { decode, decodeOrNull, encode, findById, type Db } from "../projection.ts";

export interface WorkflowRow {
  id: string;
  organization_id: string;
  definition_id: string;
  /** Null if the definition no longer exists. */
  definition_name: string | null;
  definition_version: number;
  /** The newest version of the definition; null if it no longer exists. */
  latest_version: number | null;
  project_id: string | null;
  enabled: boolean;
  envelope: Envelope;
  /** Counts the envelopes of the workflow from 1. */
  envelope_version: number;
  name: string;
  description: string;
  /** The principal that registered it. */
  created_by: string;
  created_at: Date;
  updated_at: Date;
  /** Later changes of the workflow could not be projected, so the row may be outdated. */
  parked: boolean;
}

const FROM = "from read.workflows w join log.keys k on k.thing = 'workflow-' || w.id";
const SELECT = `select w.id, w.organization_id, w.definition_id, d.name as definition_name, w.definition_version, d.version as latest_version, w.project_id, w.enabled, w.envelope, w.envelope_version,
    w.name, w.description, w.created_by, w.created_at, w.updated_at,
    exists (select from log.parked p where p.projection = 'workflows' and p.stream = 'workflow-' || w.id) as parked
  ${FROM} left join read.definitions d on d.id = w.definition_id and d.organization_id = w.organization_id`;
type StoredRow = Omit<WorkflowRow, "envelope"> & { envelope: string };
const parseRow = (row: StoredRow): WorkflowRow => ({
  ...row,
  definition_name: decodeOrNull(row.definition_name),
  envelope: decode(row.envelope),
  name: decode(row.name),
  description: decode(row.description),
});

export const getWorkflow = findById(`${SELECT} where w.id = $2 and w.organization_id = $1`, parseRow);

/** In order of registration. */
export const listWorkflows = (db: Db, organization: string, page: Page): Promise<PageRows<WorkflowRow>> =>
  readPage(db, page, {
    ordered: `${SELECT} where w.organization_id = $1 order by w.created_at, w.id`,
    from: `${FROM} where w.organization_id = $1`,
    values: [organization],
    parseRow,
  });

/** The workflows of a definition, in order of registration. */
export async function listWorkflowsOf(db: Db, organization: string, definition: string): Promise<WorkflowRow[]> {
  const rows = await db.query<StoredRow>(
    `${SELECT} where w.organization_id = $1 and w.definition_id = $2 order by w.created_at, w.id`,
    [organization, definition],
  );
  return mapInSlices(rows, parseRow);
}

/** The name of a workflow, as a key of `listWorkflowsNamed`. */
export const workflowName = (organization: string, name: string): string => JSON.stringify([organization, name]);

/** Ids of the enabled workflows with these names, at most ten for each. */
export async function listWorkflowsNamed(db: Db, names: string[]): Promise<Map<string, string[]>> {
  const wanted = names.map((key) => JSON.parse(key) as [organization: string, name: string]);
  const rows = await db.query<{ n: number; ids: string[] }>(
    `select wanted.n::integer, found.ids from unnest($1::uuid[], $2::text[]) with ordinality wanted (organization_id, name, n)
     cross join lateral (
       select array_agg(id) as ids from (
         select w.id from read.workflows w
         where w.organization_id = wanted.organization_id and w.name = wanted.name and w.enabled order by w.id limit 10
       ) one
     ) found where found.ids is not null`,
    [wanted.map(([organization]) => organization), wanted.map(([, name]) => encode(name))],
  );
  return new Map(rows.map(({ n, ids }) => [names[n - 1]!, ids]));
}

/** Counts of a workflow's triggers and runs. */
export interface WorkflowCounts {
  /** Triggers that are enabled. */
  triggers: number;
  /** Runs that are pending or running. */
  live: number;
  /** All runs that still exist. */
  total: number;
}

/** The counts of several workflows, by workflow id. */
export async function countWorkflowUses(db: Db, workflows: string[]): Promise<Map<string, WorkflowCounts>> {
  const rows = await db.query<WorkflowCounts & { id: string }>(
    `select w.id,
       (select count(*) from read.triggers where workflow_id = w.id and enabled)::integer as triggers,
       (select count(*) from read.runs where workflow_id = w.id and status in ('pending', 'running'))::integer as live,
       (select count(*) from read.runs where workflow_id = w.id)::integer as total
     from unnest($1::uuid[]) w (id)`,
    [workflows],
  );
  return new Map(rows.map(({ id, ...tally }) => [id, tally]));
}

/** A workflow whose new runs execute a version of its definition that is not the newest. */
export interface PinnedWorkflow {
  id: string;
  name: string;
  definition_version: number;
}

/** The enabled workflows of a definition that stay at an older version, in order of registration. */
export async function listPinnedWorkflows(db: Db, organization: string, definition: string): Promise<PinnedWorkflow[]> {
  const rows = await db.query<PinnedWorkflow>(
    `select w.id, w.name, w.definition_version ${FROM}
     join read.definitions d on d.id = w.definition_id and d.organization_id = w.organization_id
     where w.organization_id = $1 and w.definition_id = $2 and w.enabled and w.definition_version < d.version
     order by w.created_at, w.id`,
    [organization, definition],
  );
  return rows.map((row) => ({ ...row, name: decode(row.name) }));
}

/** Counts the enabled workflows and the live runs that use a definition and so prevent its deletion. */
export async function countDefinitionUses(
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
