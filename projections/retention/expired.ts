import type { RetentionRules } from "#events/retention.ts";
import { DAY_MS } from "#events/units.ts";
import { listRunFiles } from "../files/query.ts";
import { HOLD_CONDITIONS, existsHoldOn } from "../holds/query.ts";
import { decode, type Db } from "../projection.ts";
import type { HeldCount, ThingCount } from "../thingCounts.ts";
import { listRunThreads } from "../turns/threads.ts";

/** The read models that the functions of this file read. */
export const EXPIRED_MODELS = ["turns", "files", "documents", "runs", "usage", "holds"];
/** Maximum things of one kind that are deleted together. */
const BATCH = 50;

/** SQL: keys and agents of a project, including deleted ones, because their content stays. */
const OWNERS = "select p.owner from read.usage_projects p where p.organization_id = $1 and p.project_id = $3";

type Kind = keyof RetentionRules;

/** SQL: whether a run that has not ended owns the turn, and may continue its thread. */
const IS_OF_LIVE_RUN = `case when o.scope like 'run:%' then exists (select from read.runs r
  where r.id = substr(o.scope, 5)::uuid and r.completed_at is null) else false end`;

/**
 * SQL by kind: rows older than $2 of the organization $1 and the project $3 (null: all). The age of a thread counts from the end of
 * its last turn, of a document from its last change, of a turn and a run from their end; live ones have no age. A document belongs
 * to the project of the key that uploaded it. Files of runs are deleted with their runs, turns of runs once these have ended.
 */
const EXPIRED: Record<Kind, string> = {
  threads: `read.threads o where o.organization_id = $1 and o.created_at < $2
    and not exists (select from read.turns t
      where t.thread_id = o.id and t.status <> 'refused' and (t.ended_at is null or t.ended_at >= $2))
    and ($3::uuid is null or o.principal in (${OWNERS}) or 'agent:' || o.agent_id in (${OWNERS}))`,
  turns: `(select id, thread_id, organization_id, principal, scope, agent_id, status, ended_at, started_at as created_at
      from read.turns) o
    where o.organization_id = $1 and o.created_at < $2 and o.ended_at < $2 and o.status <> 'refused'
    and not ${IS_OF_LIVE_RUN}
    and ($3::uuid is null or o.principal in (${OWNERS}) or 'agent:' || o.agent_id in (${OWNERS}))`,
  files: `read.files o where o.organization_id = $1 and o.created_at < $2 and o.scope not like 'run:%'
    and ($3::uuid is null or o.principal in (${OWNERS}))`,
  documents: `read.documents o where o.organization_id = $1 and o.updated_at < $2
    and ($3::uuid is null or exists (select from read.usage_holdings g where g.id = o.id and g.principal in (${OWNERS})))`,
  runs: `read.runs o where o.organization_id = $1 and o.completed_at < $2 and ($3::uuid is null or o.project_id = $3)`,
};

/** SQL: whether the turn `o` is deleted with its expired thread. $4: like $2, by the rule of threads; null if there is none. */
const GOES_WITH_THREAD = `exists (select from (
    select o.id from ${EXPIRED.threads.replaceAll("$2", () => "$4")} and not ${existsHoldOn("threads")}
  ) gone where gone.id = o.thread_id)`;

interface Range {
  subject: string;
  rules: RetentionRules;
  now: Date;
}

/** The last thing of each kind on a page; `at` in PostgreSQL's notation, which has microseconds. */
type Cursor = Partial<Record<Kind, { at: string; id: string }>>;

const projectOf = (subject: string): string | null =>
  subject.startsWith("project:") ? subject.slice("project:".length) : null;

const daysBefore = (now: Date, days: number | undefined): Date | null =>
  days === undefined ? null : new Date(now.getTime() - days * DAY_MS);
const valuesOf = (organization: string, { subject, now }: Range, days: number) => [
  organization,
  daysBefore(now, days),
  projectOf(subject),
];

async function listKind<R extends object>(
  db: Db,
  organization: string,
  range: Range & { after: Cursor },
  kind: Kind,
  columns: string,
): Promise<(R & { at: string })[]> {
  const days = range.rules[kind];
  if (days === undefined) return [];
  const after = range.after[kind];
  return db.query<R & { at: string }>(
    `select ${columns}, o.created_at::text as at from ${EXPIRED[kind]} and not ${existsHoldOn(kind)}
       and ($4::timestamptz is null or (o.created_at, o.id::text) > ($4, $5::text))
     order by o.created_at, o.id::text limit ${BATCH}`,
    [...valuesOf(organization, range, days), after?.at ?? null, after?.id ?? null],
  );
}

/** A batch of expired things behind the cursor that no hold covers, oldest first. */
export async function listExpired(db: Db, organization: string, range: Range & { after: Cursor }) {
  type OwnedRow = { id: string; scope: string };
  const [threads, turns, files, documents, runs] = await Promise.all([
    listKind<OwnedRow>(db, organization, range, "threads", "o.id, o.scope"),
    listKind<OwnedRow & { thread_id: string }>(db, organization, range, "turns", "o.id, o.scope, o.thread_id"),
    listKind<OwnedRow>(db, organization, range, "files", "o.id, o.scope"),
    listKind<{ id: string }>(db, organization, range, "documents", "o.id"),
    listKind<{ id: string }>(db, organization, range, "runs", "o.id"),
  ]);
  const withBelongings = runs.map(async ({ id }) => ({
    id,
    threads: await listRunThreads(db, organization, id),
    files: await listRunFiles(db, organization, id),
  }));
  const cursor: Cursor = { ...range.after };
  for (const [kind, rows] of Object.entries({ threads, turns, files, documents, runs })) {
    const last = rows.at(-1);
    if (last) cursor[kind as Kind] = { at: last.at, id: last.id };
  }
  return { threads, turns, files, documents, runs: await Promise.all(withBelongings), cursor };
}

/**
 * Counts expired things that no hold covers, as a round counts what it deletes: without the turns of expired threads. 0 for a kind
 * without a rule.
 */
export async function countExpired(db: Db, organization: string, range: Range): Promise<Record<Kind, ThingCount>> {
  const { now, rules } = range;
  const count = async (kind: Kind): Promise<ThingCount> => {
    const days = rules[kind];
    if (days === undefined) return { count: 0, oldest: null };
    const rows = `${EXPIRED[kind]} and not ${existsHoldOn(kind)}`;
    const isTurns = kind === "turns";
    const [row] = await db.query<ThingCount>(
      `select count(*)::integer as count, min(o.created_at) as oldest from ${rows}${isTurns ? ` and not ${GOES_WITH_THREAD}` : ""}`,
      [...valuesOf(organization, range, days), ...(isTurns ? [daysBefore(now, rules.threads)] : [])],
    );
    return row!;
  };
  const counts = (Object.keys(EXPIRED) as Kind[]).map(async (kind) => [kind, await count(kind)] as const);
  return Object.fromEntries(await Promise.all(counts)) as Record<Kind, ThingCount>;
}

/** Counts expired things that stay because of a hold. A thing under several holds counts for each. */
export async function countHeld(db: Db, organization: string, range: Range): Promise<HeldCount<Kind>[]> {
  const count = async (kind: Kind): Promise<HeldCount<Kind>[]> => {
    const days = range.rules[kind];
    if (days === undefined) return [];
    const rows = await db.query<Omit<HeldCount<Kind>, "kind">>(
      `select h.id as hold_id, h.subject, h.name, found.count from read.holds h
       cross join lateral (select count(*)::integer as count from ${EXPIRED[kind]} and ${HOLD_CONDITIONS[kind]}) found
       where h.organization_id = $1 and h.released_at is null and found.count > 0 order by h.created_at, h.id`,
      valuesOf(organization, range, days),
    );
    return rows.map((row) => ({ ...row, name: decode(row.name), kind }));
  };
  return (await Promise.all((Object.keys(EXPIRED) as Kind[]).map(count))).flat();
}
