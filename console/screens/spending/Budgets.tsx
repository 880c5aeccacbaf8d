import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import {
  isRate,
  listBudgets,
  removeBudget,
  usedPercent,
  WARNED_PERCENT,
  type Budget,
  type BudgetLimit,
  type LimitName,
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

const UNITS: Record<LimitName, string> = {
  tokens_per_day: "tokens a day",
  tokens_per_month: "tokens a month",
  cost_per_day: "a day",
  cost_per_month: "a month",
  requests_per_minute: "requests in a minute",
  tokens_per_minute: "tokens in a minute",
  concurrent_turns: "turns at a time",
  concurrent_streams: "streams at a time",
  concurrent_runs: "runs at a time",
  pages_per_day: "pages a day",
  pages_per_month: "pages a month",
  stored_bytes: "bytes",
  documents: "documents",
};
/** Without its period. */
const unitOf = ({ name }: BudgetLimit): string => UNITS[name].split(" ")[0]!;
const isMoney = ({ name }: BudgetLimit) => name.startsWith("cost");
const show = (limit: BudgetLimit, amount: string): string =>
  isMoney(limit) ? formatCost(amount) : formatNumber(Number(amount));

/** What is left of a limit. What was spent last may be more than it. */
function Left({ limit }: { limit: BudgetLimit }) {
  const left = Math.max(0, Number(limit.limit) - Number(limit.spent));
  if (isRate(limit)) return <>{limit.percent >= 100 ? "full at this moment" : `${formatNumber(left)} free now`}</>;
  return (
    <>
      {limit.percent >= 100 ? (
        <strong className="bad-text">used up</strong>
      ) : (
        `${show(limit, String(left))}${isMoney(limit) ? "" : ` ${unitOf(limit)}`} left`
      )}
      {limit.ends_at && (
        <>
          , again <Time at={limit.ends_at} />
        </>
      )}
    </>
  );
}

function Limit({ limit }: { limit: BudgetLimit }) {
  return (
    <div className="limit">
      <span>
        <strong>{show(limit, limit.spent)}</strong> of {show(limit, limit.limit)} {UNITS[limit.name]} ({limit.percent}{" "}
        %)
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

/** What may be spent in a day and in a month (UTC), and asked in a minute and at a time. */
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
