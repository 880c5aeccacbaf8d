import { isUuid } from "#events/ids.ts";
import type { Envelope, RunAs } from "#events/workflow.ts";
import { decode, decoded, type Db } from "../projection.ts";

export interface TriggerRow {
  id: string;
  workflow_id: string;
  hook_token: string;
  /** The last four characters. */
  secret_hint: string;
  /** In place of the workflow's own. */
  run_as: RunAs | null;
  enabled: boolean;
  name: string;
  /** JSON of an object. */
  default_args: string;
  created_at: Date;
  rotated_at: Date | null;
  /** When it last started a run. */
  last_used_at: Date | null;
}

const FROM = `from read.triggers t
  join log.keys k on k.thing = 'trigger-' || t.id
  left join read.trigger_starts s on s.trigger_id = t.id`;
const SELECT = `select t.id, t.workflow_id, t.hook_token, t.secret_hint, t.run_as, t.enabled, t.name, t.default_args,
    t.created_at, t.rotated_at, s.started_at as last_used_at
  ${FROM}`;
type Stored = Omit<TriggerRow, "run_as"> & { run_as: string | null };
const present = (row: Stored): TriggerRow => ({ ...row, run_as: decode(row.run_as), name: decoded(row.name) });

export async function getTrigger(db: Db, workflow: string, id: string): Promise<TriggerRow | undefined> {
  if (!isUuid(id)) return undefined;
  const [row] = await db.query<Stored>(`${SELECT} where t.workflow_id = $1 and t.id = $2`, [workflow, id]);
  return row && present(row);
}

/** A workflow's triggers, in the order they were made. */
export async function listTriggers(
  db: Db,
  workflow: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: TriggerRow[]; total: number }> {
  const where = "where t.workflow_id = $1";
  const rows = await db.query<Stored>(`${SELECT} ${where} order by t.created_at, t.id limit $2 offset $3`, [
    workflow,
    limit,
    offset,
  ]);
  const [count] = await db.query<{ total: number }>(`select count(*)::integer as total ${FROM} ${where}`, [workflow]);
  return { rows: rows.map(present), total: count!.total };
}

/** How many triggers of a workflow may start runs. */
export async function countEnabled(db: Db, workflow: string): Promise<number> {
  const [row] = await db.query<{ enabled: number }>(
    "select count(*)::integer as enabled from read.triggers where workflow_id = $1 and enabled",
    [workflow],
  );
  return row!.enabled;
}

/** How many runs of each trigger of a workflow there are; nothing is said of one that has none. */
export async function countRuns(db: Db, workflow: string, triggers: string[]): Promise<Map<string, number>> {
  const rows = await db.query<{ trigger_id: string; runs: number }>(
    `select trigger_id, count(*)::integer as runs from read.runs
     where workflow_id = $1 and trigger_id = any ($2) group by trigger_id`,
    [workflow, triggers],
  );
  return new Map(rows.map((row) => [row.trigger_id, row.runs]));
}

/** What a hook's request needs of its trigger and of the trigger's workflow. */
export interface TriggerInUse {
  trigger_id: string;
  workflow_id: string;
  organization_id: string;
  /** SHA-256 of the secret, hex. */
  secret_hash: string;
  /** In place of the workflow's own. */
  run_as: RunAs | null;
  /** JSON of an object. */
  default_args: string;
  enabled: boolean;
  workflow_enabled: boolean;
  project_id: string | null;
  definition_id: string;
  definition_version: number;
  envelope: Envelope;
  /** Changes of the trigger or of its workflow cannot be followed, so the row must not be trusted. */
  parked: boolean;
}

const parkedOf = (projection: string, stream: string): string =>
  `exists (select from log.parked p where p.projection = '${projection}' and p.stream = ${stream})`;

/** The trigger with this hook token. Never cached: a secret that was rotated stops at once. */
export async function findTriggerByToken(db: Db, hook_token: string): Promise<TriggerInUse | undefined> {
  const [row] = await db.query<Omit<TriggerInUse, "run_as" | "envelope"> & { run_as: string | null; envelope: string }>(
    `select t.id as trigger_id, t.workflow_id, t.organization_id, t.secret_hash, t.run_as, t.default_args, t.enabled,
            w.enabled as workflow_enabled, w.project_id, w.definition_id, w.definition_version, w.envelope,
            ${parkedOf("triggers", "'trigger-' || t.id")} or ${parkedOf("workflows", "'workflow-' || w.id")} as parked
     from read.triggers t
     join log.keys k on k.thing = 'trigger-' || t.id
     join read.workflows w on w.id = t.workflow_id
     where t.hook_token = $1`,
    [hook_token],
  );
  return row && { ...row, run_as: decode(row.run_as), envelope: decoded(row.envelope) };
}
