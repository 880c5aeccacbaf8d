import { budgetSubject, EACH_USER, splitSubject } from "#events/budget.ts";
import type { BudgetRow } from "./query.ts";

/** Who a turn is counted for. */
export interface Spender {
  organization_id: string;
  principal: string;
  project_id: string | null;
  agent_id: string | null;
  /** The mark of the request's `user`. */
  user_mark: string | null;
  /** That the turn names, a model or an alias; absent: it is no turn. */
  model?: string | null;
}

/** Spenders with the same key count for the same subjects. */
export const spenderKey = ({ principal, project_id, agent_id, user_mark, model }: Spender): string =>
  `${principal} ${project_id} ${agent_id} ${user_mark} ${model}`;

/** Begins the subject of one external user, for whom budgets of `each-user` count. */
export const USER_SUBJECT = "user:";

/** Whether a subject is one external user, in turns that name this model; null: in all. */
export const isUser = (subject: string, model: string | null): boolean =>
  subject.startsWith(USER_SUBJECT) && splitSubject(subject).model === model;

/** Subjects that a turn counts for. */
export function subjectsOf({ principal, project_id, agent_id, user_mark, model }: Omit<Spender, "organization_id">) {
  const subjects = [
    "organization",
    principal,
    ...(project_id === null ? [] : [`project:${project_id}`]),
    ...(agent_id === null ? [] : [`agent:${agent_id}`]),
    ...(user_mark === null ? [] : [`${USER_SUBJECT}${user_mark}`]),
  ];
  return model == null ? subjects : [...subjects, ...subjects.map((who) => budgetSubject(who, model))];
}

/** The subject of a budget that a spender is counted as; undefined where the budget does not concern it. */
export function countedAs({ subject }: BudgetRow, subjects: string[]): string | undefined {
  if (!subject.startsWith(EACH_USER)) return subjects.find((one) => one === subject);
  const { model } = splitSubject(subject);
  return subjects.find((one) => isUser(one, model));
}

/** The same, whatever model the budget is about. */
export const countedFor = (budget: BudgetRow, spender: Spender): string | undefined =>
  countedAs(budget, subjectsOf({ ...spender, model: splitSubject(budget.subject).model }));
