import type { Limits } from "#events/budget.ts";
import { decode, type Db } from "../projection.ts";

export interface BudgetRow {
  subject: string;
  limits: Limits;
  hard: boolean;
  /** When it was first set. */
  created_at: Date;
  updated_at: Date;
}

/** The budgets of an organization, in the order in which they were first set. */
export async function listBudgets(db: Db, organization: string): Promise<BudgetRow[]> {
  const rows = await db.query<Omit<BudgetRow, "limits"> & { limits: string }>(
    `select subject, limits, hard, created_at, updated_at from read.budgets
     where organization_id = $1 and limits is not null order by created_at, id`,
    [organization],
  );
  return rows.map(({ limits, ...row }) => ({ ...row, limits: decode(limits) }));
}

/** What was spent by one principal, in one project, with one agent, for one external user. */
export interface SpentRow {
  principal: string;
  project_id: string | null;
  agent_id: string | null;
  user_mark: string | null;
  tokens: number;
  /** US dollars; null if nothing is known. */
  cost: string | null;
}

/** What an organization spent, `from` included, `to` excluded. */
export const SPENT = `select s.principal, s.project_id, s.agent_id, s.user_mark,
    least(sum(u.prompt_tokens + u.completion_tokens), ${Number.MAX_SAFE_INTEGER})::bigint as tokens,
    trim_scale(sum(u.cost))::text as cost
  from read.usage u join read.usage_sources s on s.id = u.source_id
  where u.organization_id = $1 and u.at >= $2 and u.at < $3 group by 1, 2, 3, 4`;

export const sumSpent = (db: Db, organization: string, from: Date, to: Date): Promise<SpentRow[]> =>
  db.query<SpentRow>(SPENT, [organization, from, to]);
