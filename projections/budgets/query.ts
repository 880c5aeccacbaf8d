import type { BudgetAlert, BudgetLimits } from "#events/budget.ts";
import { mapInSlices } from "#events/slices.ts";
import { decode, decodeOrNull, type Db } from "../projection.ts";

export interface BudgetRow {
  subject: string;
  limits: BudgetLimits;
  hard: boolean;
  alert?: BudgetAlert | null;
  /** When it was first set. */
  created_at: Date;
  updated_at: Date;
}

/** The budgets of an organization, in the order in which they were first set. */
export async function listBudgets(db: Db, organization: string): Promise<BudgetRow[]> {
  const rows = await db.query<Omit<BudgetRow, "limits" | "alert"> & { limits: string; alert: string | null }>(
    `select subject, limits, hard, alert, created_at, updated_at from read.budgets
     where organization_id = $1 and limits is not null order by created_at, id`,
    [organization],
  );
  return rows.map(({ limits, alert, ...row }) => ({
    ...row,
    limits: decode(limits),
    alert: decodeOrNull<BudgetAlert>(alert ?? null),
  }));
}

/** What one principal, in one project, with one agent, for one external user, spent in a period or has now. */
export interface SpentRow {
  principal: string;
  project_id: string | null;
  agent_id: string | null;
  user_mark: string | null;
  /** The model that the turns named; absent: all. */
  model?: string | null;
  turns?: number;
  tokens?: number;
  /** US dollars; null if unknown. */
  cost?: string | null;
  pages?: number;
  bytes?: number;
  documents?: number;
  runs?: number;
}

const PROJECTS = "read.usage_projects p on p.organization_id = $1 and p.owner = g.principal";

/** What sums are split by besides keys, people, projects and agents, which are few. */
export interface SplitBy {
  byModel: boolean;
  /** An organization may have a million external users in a month. */
  byUser: boolean;
}

/** SQL of the model that a turn named, as JSON, if budgets of models need it. */
export const namedModel = ({ byModel }: SplitBy): string => (byModel ? "s.model" : "null::text");
/** SQL of the mark of a turn's external user, if budgets of users need it. */
const userMark = ({ byUser }: SplitBy): string => (byUser ? "s.user_mark" : "null::text");

/** Decodes the models of rows, which are JSON. Lets other work run in between. */
export const decodeModels = <Row extends { model?: string | null }>(rows: Row[]): Promise<Row[]> =>
  mapInSlices(rows, (row) => ({ ...row, model: decodeOrNull<string>(row.model ?? null) }));

/** SQL: the row is a round of a turn that has not ended. At its end, one row for the whole turn replaces them. */
const IS_ROUND = "(u.part >= 0 and s.scope is not null)";

/**
 * SQL of the spending of organization $1 between two parameters (`from` inclusive, `to` exclusive). Documents count for the project
 * of their key, including deleted keys.
 */
export const spentBetween = (from: string, to: string, split: SplitBy, only = "true"): string =>
  `select g.principal, coalesce(g.project_id, case when g.is_document then p.project_id end) as project_id,
    g.agent_id, g.user_mark, g.model, g.turns, g.tokens, g.cost, g.pages
  from (select s.principal, s.project_id, s.agent_id, ${userMark(split)} as user_mark, s.scope is null as is_document, ${namedModel(split)} as model,
      sum(u.turns)::bigint as turns,
      least(sum(u.prompt_tokens + u.completion_tokens), ${Number.MAX_SAFE_INTEGER})::bigint as tokens,
      trim_scale(sum(u.cost))::text as cost, sum(u.pages)::bigint as pages
    from read.usage u join read.usage_sources s on s.id = u.source_id and s.generation = u.generation
    where u.organization_id = $1 and u.at >= ${from} and u.at < ${to} and ${only} group by 1, 2, 3, 4, 5, 6) g left join ${PROJECTS}`;

/** The spending of a turn's rounds. */
export type RoundsRow = SpentRow & { turn_id: string };

/** SQL of the rounds of turns that have not ended, between two parameters, by turn. */
export const roundsBetween = (from: string, to: string, split: SplitBy, only = "true"): string =>
  `select u.source_id as turn_id, s.principal, s.project_id, s.agent_id, ${userMark(split)} as user_mark, ${namedModel(split)} as model,
     least(sum(u.prompt_tokens + u.completion_tokens), ${Number.MAX_SAFE_INTEGER})::bigint as tokens, trim_scale(sum(u.cost))::text as cost
   from read.usage u join read.usage_sources s on s.id = u.source_id and s.generation = u.generation
   where u.organization_id = $1 and u.at >= ${from} and u.at < ${to} and ${IS_ROUND} and ${only} group by 1, 2, 3, 4, 5, 6`;

const BEGINNING = new Date(0);

interface Period {
  from: Date;
  to: Date;
}
export const sumSpent = async (db: Db, organization: string, { from, to }: Period, split: SplitBy) =>
  decodeModels(await db.query<SpentRow>(spentBetween("$2", "$3", split), [organization, from, to]));

/** Sums the spending before a moment without rounds of unfinished turns, so that it never shrinks. */
export const sumFinal = async (db: Db, organization: string, before: Date, split: SplitBy) =>
  decodeModels(
    await db.query<SpentRow>(spentBetween("$2", "$3", split, `not ${IS_ROUND}`), [organization, BEGINNING, before]),
  );
/** Lists rounds before a moment of unfinished turns. `among`: only of these turns, which are found without reading all usage. */
export async function listRounds(db: Db, organization: string, before: Date, split: SplitBy, among?: string[]) {
  if (among?.length === 0) return [];
  const text = roundsBetween("$2", "$3", split, among && "u.source_id = any($4::uuid[])");
  return decodeModels(await db.query<RoundsRow>(text, [organization, BEGINNING, before, ...(among ? [among] : [])]));
}

/** SQL: whether a budget of organization $1 is of external users. */
const HAS_USER_BUDGETS = `(select exists (select from read.budgets b
  where b.organization_id = $1 and b.limits is not null and b.subject ~ '^(each-user|user:)'))`;

/** Sums what an organization stores and runs now, with the log position that the read model has reached. By user only if a budget needs it. */
export async function sumHoldings(db: Db, organization: string): Promise<{ position: number; rows: SpentRow[] }> {
  const [row] = await db.query<{ position: number; rows: SpentRow[] }>(
    `select (select position from log.checkpoints where name = 'usage') as position,
       (select coalesce(json_agg(held), '[]') from (
          select g.principal, coalesce(g.project_id, p.project_id) as project_id, g.agent_id, g.user_mark, g.bytes, g.documents, g.runs
          from (select principal, project_id, agent_id, case when ${HAS_USER_BUDGETS} then user_mark end as user_mark,
                  sum(bytes)::bigint as bytes, sum(documents)::bigint as documents, sum(runs)::bigint as runs
                from read.usage_holdings where organization_id = $1 group by 1, 2, 3, 4) g left join ${PROJECTS}) held) as rows`,
    [organization],
  );
  return row!;
}
