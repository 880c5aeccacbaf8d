import type { Principal } from "#events/envelope.ts";
import type { Verification } from "#events/trigger.ts";
import type { Envelope, RunAs } from "#events/workflow.ts";
import { readPage, type Page, type PageRows } from "../page.ts";
import { decode, decodeOrNull, findById, type Db } from "../projection.ts";

export interface TriggerRow {
  id: string;
  workflow_id: string;
  /** Null for a schedule, like the hint. */
  hook_token: string | null;
  /** The last four characters. */
  secret_hint: string | null;
  /** Overrides the workflow's `run_as`. */
  run_as: RunAs | null;
  enabled: boolean;
  name: string;
  /** JSON of an object. For a schedule, the arguments of its runs. */
  default_args: string;
  created_at: Date;
  rotated_at: Date | null;
  /** The principal that last configured what starts its runs. */
  set_by: Principal;
  /** When it last started a run. */
  last_used_at: Date | null;
  /** Null: the caller sends the trigger's own secret. */
  verify: Verification | null;
  /** Names, in lower case, of the request headers that `run()` receives. */
  headers: string[];
  /** The name of the event that a call sends; null: it starts a run. */
  event: string | null;
}

const FROM = `from read.triggers t
  join log.keys k on k.thing = 'trigger-' || t.id
  left join read.trigger_starts s on s.trigger_id = t.id`;
const SELECT = `select t.id, t.workflow_id, t.hook_token, t.secret_hint, t.run_as, t.enabled, t.name, t.default_args,
    t.created_at, t.rotated_at, t.set_by, t.verify, t.headers, t.event, s.started_at as last_used_at
  ${FROM}`;
/** Columns that hold JSON. */
interface EncodedColumns {
  run_as: string | null;
  verify: string | null;
  headers: string;
  event: string | null;
}
type StoredRow = Omit<TriggerRow, keyof EncodedColumns> & EncodedColumns;
const decodeColumns = ({ run_as, verify, headers, event }: EncodedColumns): Pick<TriggerRow, keyof EncodedColumns> => ({
  run_as: decodeOrNull(run_as),
  verify: decodeOrNull(verify),
  headers: decode(headers),
  event: decodeOrNull(event),
});
const parseRow = (row: StoredRow): TriggerRow => ({ ...row, ...decodeColumns(row), name: decode(row.name) });

export const getTrigger = findById(`${SELECT} where t.workflow_id = $1 and t.id = $2`, parseRow);

/** A workflow's triggers in order of creation. */
export const listTriggers = (db: Db, workflow: string, page: Page): Promise<PageRows<TriggerRow>> =>
  readPage(db, page, {
    ordered: `${SELECT} where t.workflow_id = $1 order by t.created_at, t.id`,
    from: `${FROM} where t.workflow_id = $1`,
    values: [workflow],
    parseRow,
  });

/** The schedules of an organization that are enabled, newest first. */
export const listScheduleTriggers = (db: Db, organization: string, page: Page): Promise<PageRows<TriggerRow>> =>
  readPage(db, page, {
    ordered: `${SELECT} where t.organization_id = $1 and t.hook_token is null and t.enabled order by t.created_at desc, t.id`,
    from: `${FROM} where t.organization_id = $1 and t.hook_token is null and t.enabled`,
    values: [organization],
    parseRow,
  });

/** For whom the runs of a workflow's enabled triggers act, where that is not what the workflow says. */
export async function listTriggerPeople(db: Db, workflow: string): Promise<RunAs[]> {
  const rows = await db.query<{ run_as: string }>(
    "select distinct run_as from read.triggers where workflow_id = $1 and enabled and run_as is not null",
    [workflow],
  );
  return rows.flatMap(({ run_as }) => decodeOrNull<RunAs>(run_as) ?? []);
}

export async function countTriggers(db: Db, workflow: string): Promise<{ enabled: number; total: number }> {
  const [counts] = await db.query<{ enabled: number; total: number }>(
    `select (count(*) filter (where enabled))::integer as enabled, count(*)::integer as total
     from read.triggers where workflow_id = $1`,
    [workflow],
  );
  return counts!;
}

/** The number of runs per trigger of some workflows. Triggers without runs are not in the map. */
export async function countRunsByTrigger(
  db: Db,
  workflows: string[],
  triggers: string[],
): Promise<Map<string, number>> {
  const rows = await db.query<{ trigger_id: string; runs: number }>(
    `select trigger_id, count(*)::integer as runs from read.runs
     where workflow_id = any ($1) and trigger_id = any ($2) group by trigger_id`,
    [workflows, triggers],
  );
  return new Map(rows.map((row) => [row.trigger_id, row.runs]));
}

/** A trigger and its workflow, as a hook request needs them. */
export interface TriggerInUse {
  trigger_id: string;
  workflow_id: string;
  organization_id: string;
  /** SHA-256 of the secret, hex. */
  secret_hash: string;
  /** Overrides the workflow's `run_as`. */
  run_as: RunAs | null;
  /** JSON of an object. */
  default_args: string;
  verify: Verification | null;
  /** The secret of the sender's signatures, sealed with the master key. */
  sealed_secret: string | null;
  headers: string[];
  event: string | null;
  set_by: Principal;
  enabled: boolean;
  workflow_enabled: boolean;
  project_id: string | null;
  definition_id: string;
  definition_version: number;
  envelope: Envelope;
  /** Later changes of the trigger or its workflow could not be projected, so the row must not be trusted. */
  parked: boolean;
}

const isParked = (projection: string, stream: string): string =>
  `exists (select from log.parked p where p.projection = '${projection}' and p.stream = ${stream})`;

type StoredTriggerInUse = Omit<TriggerInUse, keyof EncodedColumns | "envelope"> &
  EncodedColumns & { envelope: string; hook_token: string };

/** Triggers by the token of their hook. Never cache them: a rotated secret must stop working at once. */
export async function findTriggersByToken(db: Db, hook_tokens: string[]): Promise<Map<string, TriggerInUse>> {
  const rows = await db.query<StoredTriggerInUse>(
    `select t.hook_token, t.id as trigger_id, t.workflow_id, t.organization_id, t.secret_hash, t.run_as, t.default_args, t.enabled,
            t.verify, t.sealed_secret, t.headers, t.event, t.set_by,
            w.enabled as workflow_enabled, w.project_id, w.definition_id, w.definition_version, w.envelope,
            ${isParked("triggers", "'trigger-' || t.id")} or ${isParked("workflows", "'workflow-' || w.id")} as parked
     from read.triggers t
     join log.keys k on k.thing = 'trigger-' || t.id
     join read.workflows w on w.id = t.workflow_id
     where t.hook_token = any ($1)`,
    [hook_tokens],
  );
  return new Map(
    rows.map(({ hook_token, ...row }) => [
      hook_token,
      { ...row, ...decodeColumns(row), envelope: decode(row.envelope) },
    ]),
  );
}
