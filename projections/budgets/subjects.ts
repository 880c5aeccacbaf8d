import { budgetSubject, EACH_USER, splitSubject } from "#events/budget.ts";
import type { BudgetRow } from "./query.ts";

/** Who a turn is counted for. */
export interface Spender {
  organization_id: string;
  principal: string;
  project_id: string | null;
  agent_id: string | null;
  /** Keyed hash of the request's `user`. */
  user_mark: string | null;
  /** The model or alias that the turn names; absent if it is not a turn. */
  model?: string | null;
}

/** Spenders with the same key are counted for the same subjects. */
export const spenderKey = ({ principal, project_id, agent_id, user_mark, model }: Spender): string =>
  `${principal} ${project_id} ${agent_id} ${user_mark} ${model}`;

/** Prefix of an external user's subject, which budgets of `each-user` count. */
const USER_SUBJECT = "user:";

/** Whether a subject is one external user, with turns that name this model; null: any model. */
export const isUser = (subject: string, model: string | null): boolean =>
  subject.startsWith(USER_SUBJECT) && splitSubject(subject).model === model;

/** The subjects that count a turn. */
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

/** The subject as which a budget counts a spender; undefined if the budget does not apply. */
export function findCountedSubject({ subject }: BudgetRow, subjects: string[]): string | undefined {
  if (!subject.startsWith(EACH_USER)) return subjects.find((one) => one === subject);
  const { model } = splitSubject(subject);
  return subjects.find((one) => isUser(one, model));
}

/** Like findCountedSubject, for any model. */
export const findCountedSubjectOf = (budget: BudgetRow, spender: Spender): string | undefined =>
  findCountedSubject(budget, subjectsOf({ ...spender, model: splitSubject(budget.subject).model }));
