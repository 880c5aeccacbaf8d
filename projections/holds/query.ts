import { readPage, type Page, type PageRows } from "../page.ts";
import { decode, findRow, type Db } from "../projection.ts";

export interface HoldRow {
  id: string;
  subject: string;
  name: string;
  reason: string;
  /** Principals. */
  placed_by: string;
  created_at: Date;
  released_by: string | null;
  released_at: Date | null;
}

const SELECT = "select id, subject, name, reason, placed_by, created_at, released_by, released_at from read.holds";
const parseRow = (row: HoldRow): HoldRow => ({ ...row, name: decode(row.name), reason: decode(row.reason) });

/** In the order in which they were placed, including released ones. */
export const listHolds = (db: Db, organization: string, page: Page): Promise<PageRows<HoldRow>> =>
  readPage(db, page, {
    ordered: `${SELECT} where organization_id = $1 order by created_at, id`,
    from: "from read.holds where organization_id = $1",
    values: [organization],
    parseRow,
  });

export const getHold = (db: Db, organization: string, id: string): Promise<HoldRow | undefined> =>
  findRow(db, `${SELECT} where organization_id = $1 and id = $2`, [organization, id], parseRow);

const HOLDING = `exists (select from read.usage_holdings g where g.id = o.id
  and h.subject in (g.principal, 'project:' || g.project_id, 'user:' || g.user_mark))`;
/** SQL: an owner is in the hold's project, including deleted keys and agents. */
const inProject = (owner: string): string => `exists (select from read.usage_projects p
  where p.organization_id = o.organization_id and p.owner = ${owner} and h.subject = 'project:' || p.project_id)`;

/** SQL: the principal in a column with an actor. */
const principalIn = (column: string): string =>
  `replace(${column}::jsonb->>'type', 'api_key', 'key') || ':' || (${column}::jsonb->>'id')`;

/** SQL: whether the hold `h` covers a run. One that another run started belongs to who is behind that run, too, as for an erasure. */
function coversRun(run: string): string {
  const [starter, asker] = [principalIn(`${run}.started_by`), principalIn(`${run}.asked_by`)];
  return `(h.subject in ('organization', 'run:' || ${run}.id, 'project:' || ${run}.project_id, 'user:' || ${run}.user_mark, ${starter})
    or ${inProject(starter)}
    or case when ${run}.starter_id is null then false else h.subject = ${asker} or ${inProject(asker)} end)`;
}

/**
 * SQL: whether the hold `h` covers the row `o`, by kind. The final check is made on the log when something is erased
 * (services/holds.ts); this keeps held things out of the lists of what to erase, and counts them.
 */
export const HOLD_CONDITIONS = {
  threads: `(h.subject in ('organization', 'thread:' || o.id, o.principal, 'agent:' || o.agent_id, o.scope)
    or ${inProject("o.principal")}
    or ${inProject("'agent:' || o.agent_id")}
    or exists (select from read.turns t join read.usage_sources s on s.id = t.id
      where t.thread_id = o.id and h.subject in ('user:' || s.user_mark, 'project:' || s.project_id)))`,
  turns: `(h.subject in ('organization', 'thread:' || o.thread_id, o.principal, 'agent:' || o.agent_id, o.scope)
    or ${inProject("o.principal")}
    or ${inProject("'agent:' || o.agent_id")}
    or exists (select from read.usage_sources s
      where s.id = o.id and h.subject in ('user:' || s.user_mark, 'project:' || s.project_id))
    or case when o.scope like 'run:%' then exists (select from read.runs r where r.id = substr(o.scope, 5)::uuid and ${coversRun("r")})
      else false end)`,
  files: `(h.subject in ('organization', 'file:' || o.id, o.principal) or ${HOLDING}
    or ${inProject("o.principal")})`,
  documents: `(h.subject in ('organization', 'document:' || o.id) or ${HOLDING}
    or exists (select from read.usage_holdings g where g.id = o.id and ${inProject("g.principal")}))`,
  runs: coversRun("o"),
};

/** SQL: whether any hold covers the row `o`, with one of HOLD_CONDITIONS. */
export const existsHold = (covers: string): string => `exists (select from read.holds h
  where h.organization_id = o.organization_id and h.released_at is null and ${covers})`;
export const existsHoldOn = (kind: keyof typeof HOLD_CONDITIONS): string => existsHold(HOLD_CONDITIONS[kind]);

/** SQL: the documents `o` in a collection or of a source ($2). */
const INSIDE = {
  collection: "o.collection_id = $2",
  source: "o.id in (select document_id from read.source_pages where source_id = $2)",
};

/** A hold that covers a document in a collection or of a source. */
export async function findHoldInside(
  db: Db,
  organization: string,
  { kind, id }: { kind: keyof typeof INSIDE; id: string },
): Promise<HoldRow | undefined> {
  const [row] = await db.query<HoldRow>(
    `${SELECT} h where released_at is null and organization_id = $1
     and exists (select from read.documents o where ${INSIDE[kind]} and ${HOLD_CONDITIONS.documents}) order by created_at limit 1`,
    [organization, id],
  );
  return row && parseRow(row);
}

const isIn = (table: string): string => `select from read.${table} where organization_id = $1 and id = $2::uuid`;
const inProjects = (column: string, value: string): string =>
  `select from read.usage_projects where organization_id = $1 and ${column} = ${value}`;
const isOwner = (
  principal: string,
): string => `select from read.threads where organization_id = $1 and principal = ${principal}
  union all select from read.usage_holdings where organization_id = $1 and principal = ${principal}`;

/**
 * SQL by kind: whether the organization ($1) has or had a thing with the id ($2). Content outlives the key, agent, project or
 * person it belongs to.
 */
const KNOWN: Record<string, string> = {
  project: `${isIn("projects")} union all ${inProjects("project_id", "$2::uuid")}`,
  key: inProjects("owner", "'key:' || $2"),
  agent: inProjects("owner", "'agent:' || $2"),
  person: `${isIn("users")} union all ${isOwner("'person:' || $2")}`,
  thread: isIn("threads"),
  file: isIn("files"),
  document: isIn("documents"),
  run: isIn("runs"),
};

/** Whether a hold on this subject can have an effect. On an organization or an external user it always can, because they may be named later. */
export async function isHoldable(db: Db, organization: string, subject: string): Promise<boolean> {
  const [kind = "", id] = subject.split(":");
  const known = KNOWN[kind];
  if (!known) return true;
  const [row] = await db.query<{ is_known: boolean }>(`select exists (${known}) as is_known`, [organization, id]);
  return row!.is_known;
}
