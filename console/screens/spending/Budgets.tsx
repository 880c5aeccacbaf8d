import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { budgetKey, listBudgets, removeBudget, usedPercent, WARNED_PERCENT, type Budget } from "../../api/spending.ts";
import type { Action } from "../../parts/action.ts";
import { Empty, ErrorNotice, Loaded } from "../../parts/Notices.tsx";
import { RemoveButton, useRemoval } from "../../parts/RemoveButton.tsx";
import { Table, type Columns } from "../../parts/Table.tsx";
import { Time } from "../../parts/Time.tsx";
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
  {
    title: "Actions",
    cell: (budget) => (
      <RemoveButton
        id={budgetKey(budget)}
        label="Remove"
        question={`Remove the budget of “${name(budgetKey(budget))}”? Nothing limits its spending then.`}
        removal={removal}
      />
    ),
  },
];

/** Those that come to their end, first. */
function Warning({ budgets, name }: { budgets: Budget[]; name: (subject: string) => string }) {
  const near = budgets.filter((budget) => usedPercent(budget) >= WARNED_PERCENT);
  if (near.length === 0) return null;
  return (
    <p className={near.some((budget) => usedPercent(budget) >= 100) ? "notice bad" : "notice warn"} role="status">
      <strong>Little is left:</strong> {near.map((one) => `${name(budgetKey(one))} (${usedPercent(one)} %)`).join(", ")}
      .
    </p>
  );
}

/** What may be spent in a day, a week, a month (UTC) or at all, and asked in a minute and at a time. */
export function Budgets({ edit }: { edit: string | undefined }) {
  const budgets = useQuery(listBudgets);
  const groups = useSubjects();
  const name = (key: string) => nameOfBudget(groups, key);
  const removal = useRemoval("budget", removeBudget);
  return (
    <Loaded query={budgets} what="budgets">
      {({ data }) => (
        <>
          {removal.isError && <ErrorNotice error={removal.error} />}
          <Warning budgets={data} name={name} />
          {data.length === 0 ? (
            <Empty title="There are no budgets">
              <ol>
                <li>Set one below for the organization, a project, a key, a person or an agent.</li>
                <li>Limit tokens for models without a price, or set prices first.</li>
                <li>
                  At 80 % answers carry a warning, at 100 % requests are refused. <Link to="/usage">See the usage</Link>
                  .
                </li>
              </ol>
            </Empty>
          ) : (
            <Table caption="Budgets" columns={columns(name, removal)} rows={data} rowKey={budgetKey} />
          )}
          <BudgetForm groups={groups} chosen={edit} />
        </>
      )}
    </Loaded>
  );
}
