import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import {
  listBudgets,
  removeBudget,
  usedPercent,
  WARNED_PERCENT,
  type Budget,
  type BudgetLimit,
} from "../../api/spending.ts";
import { formatCost, formatNumber } from "../../format/index.ts";
import type { Action } from "../../parts/action.ts";
import { Bar } from "../../parts/Bar.tsx";
import { Empty, ErrorNotice, Loaded } from "../../parts/Notices.tsx";
import { RemoveButton, useRemoval } from "../../parts/RemoveButton.tsx";
import { Table, type Columns } from "../../parts/Table.tsx";
import { Time } from "../../parts/Time.tsx";
import { BudgetForm } from "./BudgetForm.tsx";
import { nameOf, useSubjects } from "./useSubjects.ts";

const toneOf = ({ percent }: BudgetLimit): string =>
  percent >= 100 ? "over" : percent >= WARNED_PERCENT ? "near" : "model";

/** What is left of a limit. What was spent last may be more than it. */
function Left({ limit }: { limit: BudgetLimit }) {
  const left = Math.max(0, Number(limit.limit) - Number(limit.spent));
  const amount = limit.name.startsWith("cost") ? formatCost(String(left)) : `${formatNumber(left)} tokens`;
  return (
    <>
      {limit.percent >= 100 ? <strong className="bad-text">used up</strong> : `${amount} left`}, again{" "}
      <Time at={limit.ends_at} />
    </>
  );
}

function Limit({ limit }: { limit: BudgetLimit }) {
  const show = (amount: string) =>
    limit.name.startsWith("cost") ? formatCost(amount) : `${formatNumber(Number(amount))} tokens`;
  return (
    <div className="limit">
      <span>
        <strong>{show(limit.spent)}</strong> of {show(limit.limit)} a {limit.name.endsWith("day") ? "day" : "month"} (
        {limit.percent} %)
      </span>
      <Bar within={{ from: 0, to: 100 }} start={0} end={Math.min(100, limit.percent)} tone={toneOf(limit)} />
      <span className="quiet">
        <Left limit={limit} />
      </span>
    </div>
  );
}

const columns = (name: (subject: string) => string, removal: Action<string>): Columns<Budget> => [
  {
    title: "Who spends",
    cell: ({ subject, hard }) => (
      <>
        <Link to="/spending" search={{ edit: subject }} data-row>
          {name(subject)}
        </Link>
        <br />
        <span className="quiet">
          {subject.split(":")[0]}
          {hard ? ", refused at the limit" : ", warned only"}
        </span>
      </>
    ),
  },
  {
    title: "Spent and left",
    cell: ({ limits }) => limits.map((limit) => <Limit key={limit.name} limit={limit} />),
  },
  { title: "Changed", wide: true, cell: ({ updated_at }) => <Time at={updated_at} /> },
  {
    title: "Actions",
    cell: ({ subject }) => (
      <RemoveButton
        id={subject}
        label="Remove"
        question={`Remove the budget of “${name(subject)}”? Nothing limits its spending then.`}
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
      <strong>Little is left:</strong> {near.map((one) => `${name(one.subject)} (${usedPercent(one)} %)`).join(", ")}.
    </p>
  );
}

/** What may be spent in a day and in a month (UTC). */
export function Budgets({ edit }: { edit: string | undefined }) {
  const budgets = useQuery(listBudgets);
  const groups = useSubjects();
  const name = (subject: string) => nameOf(groups, subject);
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
            <Table caption="Budgets" columns={columns(name, removal)} rows={data} rowKey={({ subject }) => subject} />
          )}
          <BudgetForm budget={data.find(({ subject }) => subject === edit)} groups={groups} chosen={edit} />
        </>
      )}
    </Loaded>
  );
}
