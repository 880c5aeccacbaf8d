import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { budgetKey, listBudgets, removeBudget, usedPercent, WARNED_PERCENT, type Budget } from "../../api/spending.ts";
import { formatNumber } from "../../format/index.ts";
import type { Action } from "../../parts/action.ts";
import { EmptyState, ErrorNotice, QueryResult } from "../../parts/Notices.tsx";
import { removalColumn } from "../../parts/RemoveButton.tsx";
import { Table, type Columns } from "../../parts/Table.tsx";
import { Time } from "../../parts/Time.tsx";
import { useChange } from "../../parts/useChange.ts";
import { BudgetForm } from "./BudgetForm.tsx";
import { Limit } from "./Limit.tsx";
import { nameOfBudget, useSubjects } from "./useSubjects.ts";

const columns = (name: (subject: string) => string, removal: Action<string>): Columns<Budget> => [
  {
    title: "Who spends",
    cell: ({ subject, model, hard }) => (
      <>
        <Link to="/spending" search={{ edit: budgetKey({ subject, model }) }} data-row>
          {name(budgetKey({ subject, model }))}
        </Link>
        <br />
        <span className="quiet">
          {subject.split(":")[0]}
          {model === null ? "" : ", one model"}
          {hard ? ", refused at the limit" : ", warned only"}
        </span>
      </>
    ),
  },
  {
    title: "Spent and left",
    cell: ({ limits }) => limits.map((limit) => <Limit key={limit.name} limit={limit} />),
  },
  { title: "Changed", cell: ({ updated_at }) => <Time at={updated_at} /> },
  removalColumn<Budget>(removal, (budget) => ({
    id: budgetKey(budget),
    about: name(budgetKey(budget)),
    question: `Remove the budget of “${name(budgetKey(budget))}”? Nothing limits its spending then.`,
  })),
];

interface WarningProps {
  budgets: Budget[];
  name: (subject: string) => string;
}

/** The budgets of one kind, in a sentence. */
const Named = ({ title, budgets, name }: WarningProps & { title: string }) =>
  budgets.length > 0 && (
    <p>
      <strong>{title}:</strong>{" "}
      {budgets.map((one) => `${name(budgetKey(one))} (${formatNumber(usedPercent(one))} %)`).join(", ")}.
    </p>
  );

/** Used-up budgets first, then those that are nearly used up. */
function Warning({ budgets, name }: WarningProps) {
  const [over, near] = [
    budgets.filter((budget) => usedPercent(budget) >= 100),
    budgets.filter((budget) => usedPercent(budget) >= WARNED_PERCENT && usedPercent(budget) < 100),
  ];
  if (over.length + near.length === 0) return null;
  return (
    <div className={over.length > 0 ? "notice bad" : "notice warn"} role="status">
      <Named title="Used up" budgets={over} name={name} />
      <Named title="Little is left" budgets={near} name={name} />
    </div>
  );
}

/** Limits of spending per day, week, month (UTC) or in total, and of requests per minute and at a time. */
export function Budgets({ edit }: { edit: string | undefined }) {
  const budgets = useQuery(listBudgets);
  const groups = useSubjects();
  const name = (key: string) => nameOfBudget(groups, key);
  const removal = useChange("budget", removeBudget);
  return (
    <QueryResult query={budgets} what="budgets">
      {({ data }) => (
        <>
          {removal.isError && <ErrorNotice error={removal.error} />}
          <Warning budgets={data} name={name} />
          {data.length === 0 ? (
            <EmptyState title="There are no budgets">
              <ol>
                <li>Set one below for the organization, a project, a key, a person or an agent.</li>
                <li>Limit tokens for models without a price, or set prices first.</li>
                <li>
                  At 80 % answers carry a warning, at 100 % requests are refused. <Link to="/usage">See the usage</Link>
                  .
                </li>
              </ol>
            </EmptyState>
          ) : (
            <Table caption="Budgets" columns={columns(name, removal)} rows={data} rowKey={budgetKey} />
          )}
          <BudgetForm groups={groups} chosen={edit} />
        </>
      )}
    </QueryResult>
  );
}
