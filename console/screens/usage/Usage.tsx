import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import {
  csvAddress,
  getUsage,
  GROUPINGS,
  GROUPS_PER_PAGE,
  type Grouping,
  type Groups as Grouped,
  type Usage as Answer,
  type UsageRow,
  type UsageSums,
} from "../../api/usage.ts";
import { MAX_CSV_GROUPS } from "../../api/usageLimits.ts";
import { readChoice } from "../../app/search.ts";
import { formatCost, formatCount, formatNumber } from "../../format/index.ts";
import { Bar } from "../../parts/Bar.tsx";
import { InputFilter, SelectFilter } from "../../parts/Filter.tsx";
import { Filters as Fold } from "../../parts/Filters.tsx";
import { EmptyState, QueryResult } from "../../parts/Notices.tsx";
import { Pagination } from "../../parts/Pagination.tsx";
import { ForAdministrators } from "../../parts/ForRole.tsx";
import { Tab, Tabs } from "../../parts/Tabs.tsx";
import { useNow } from "../../parts/useNow.ts";
import { Table, type Columns } from "../../parts/Table.tsx";
import { useFilterNavigate } from "../../parts/useFilterNavigate.ts";
import { LabelFilter, NoLabels, useLabel } from "./LabelFilter.tsx";
import { GroupLink } from "./GroupLink.tsx";
import {
  GROUP_WORDS,
  sortByMeasure,
  readMeasure,
  MEASURES,
  periodsUntil,
  withEmptyDays,
  type Measure,
  type UsageSearch,
} from "./rows.ts";
import "./usage.css";

const route = getRouteApi("/usage");

const columns = ({ by, label }: Grouped, measure: Measure, most: number): Columns<UsageRow> => [
  {
    title: label ?? GROUP_WORDS[by][0].replace(/^./, (first) => first.toUpperCase()),
    className: "group",
    cell: (row) => (
      <>
        <GroupLink row={row} by={by} />
        {readMeasure(row, measure) > 0 && (
          <Bar within={{ from: 0, to: most }} start={0} end={readMeasure(row, measure)} tone="model" />
        )}
      </>
    ),
  },
  {
    title: "Tokens",
    number: true,
    cell: ({ total_tokens }) => formatNumber(total_tokens),
  },
  { title: "In", number: true, cell: ({ prompt_tokens }) => formatNumber(prompt_tokens) },
  { title: "Out", number: true, cell: ({ completion_tokens }) => formatNumber(completion_tokens) },
  { title: "Cost", number: true, cell: ({ cost }) => cost !== null && formatCost(cost) },
  { title: "Requests", number: true, cell: ({ turns }) => formatNumber(turns) },
  { title: "Pages", number: true, cell: ({ pages }) => formatNumber(pages) },
];

const Totals = ({ totals }: { totals: UsageSums }) => (
  <section aria-label="In total" className="card totals">
    <p>
      <strong>{formatNumber(totals.total_tokens)}</strong> tokens
      <span className="quiet">
        {formatNumber(totals.prompt_tokens)} in ({formatNumber(totals.cached_tokens)} cached),{" "}
        {formatNumber(totals.completion_tokens)} out ({formatNumber(totals.reasoning_tokens)} reasoning)
      </span>
    </p>
    <p>
      <strong>{formatCost(totals.cost)}</strong> {totals.cost !== null && "spent"}
      {totals.turns_without_cost > 0 && (
        <span className="quiet">{formatCount(totals.turns_without_cost, "request")} to models without a price</span>
      )}
    </p>
    <p>
      <strong>{formatNumber(totals.turns)}</strong> {totals.turns === 1 ? "request" : "requests"}
      <span className="quiet">that have ended</span>
    </p>
    <p>
      <strong>{formatNumber(totals.pages)}</strong> {totals.pages === 1 ? "page" : "pages"}
      <span className="quiet">of files, for knowledge and extraction</span>
    </p>
  </section>
);

function Filters({ search }: { search: UsageSearch }) {
  const navigate = useFilterNavigate();
  const change = (part: UsageSearch) =>
    void navigate({ to: "/usage", replace: true, search: { ...search, page: undefined, ...part } });
  return (
    <Fold values={[search.from, search.to, search.measure]}>
      <InputFilter label="From (UTC)" type="date" isFirst value={search.from} onChange={(from) => change({ from })} />
      <InputFilter label="To (UTC)" type="date" value={search.to} onChange={(to) => change({ to })} />
      <SelectFilter
        label="Order and bars by"
        isRequired
        value={search.measure ?? "tokens"}
        choices={MEASURES.map((measure) => ({ value: measure, label: measure }))}
        onPick={(measure) => change({ measure: readChoice(measure, MEASURES) })}
      />
    </Fold>
  );
}

/** The most common periods. */
const Periods = ({ search }: { search: UsageSearch }) => (
  <p className="buttons">
    {periodsUntil(useNow()).map(({ name, from, to }) => (
      <Link
        key={name}
        className="button small"
        to="/usage"
        replace
        search={{ ...search, page: undefined, from, to }}
        activeOptions={{ exact: true, explicitUndefined: true }}
      >
        {name}
      </Link>
    ))}
  </p>
);

const Groupings = ({ search, by }: { search: UsageSearch; by: Grouping }) => (
  <Tabs
    label="Grouped by"
    names={GROUPINGS}
    current={by}
    title={(choice) => `by ${choice === "label" ? choice : GROUP_WORDS[choice][0]}`}
    tab={(choice, rest) => (
      <Tab {...rest} to="/usage" search={{ ...search, page: undefined, by: choice === "day" ? undefined : choice }} />
    )}
  />
);

function Groups({ usage, search, groups }: { usage: Answer; search: UsageSearch; groups: Grouped }) {
  const { by, label } = groups;
  const { measure = "tokens", page = 0 } = search;
  const rows = by === "day" ? withEmptyDays(usage).toReversed() : sortByMeasure(usage.data, measure);
  if (usage.total === 0 && page === 0)
    return (
      <EmptyState title="Nothing was used in this time">
        <ul>
          <li>
            <Link to="/chat">Ask a model</Link>, or let a program ask with a <Link to="/keys">key</Link>.
          </li>
          <li>Tokens count when an answer ends, pages when a file has been read.</li>
          <li>Choose another time above.</li>
        </ul>
      </EmptyState>
    );
  const most = Math.max(Number.MIN_VALUE, ...rows.map((row) => readMeasure(row, measure)));
  return (
    <>
      {usage.data.length > 0 && (
        <Table
          caption={`Usage by ${label ?? GROUP_WORDS[by][0]}`}
          columns={columns(groups, measure, most)}
          rows={rows}
          rowKey={(row) => JSON.stringify([row[by], row.member])}
        />
      )}
      <Pagination
        page={page}
        perPage={GROUPS_PER_PAGE}
        total={usage.total}
        what="row"
        address={(to) => ({ to: "/usage", search: { ...search, page: to } })}
      />
    </>
  );
}

function Sums({ search, groups }: { search: UsageSearch; groups: Grouped }) {
  const usage = useQuery(getUsage({ from: search.from, to: search.to }, groups, search.page));
  return (
    <QueryResult query={usage} what="usage">
      {(answer) => (
        <>
          <Totals totals={answer.totals} />
          <p className="quiet">
            {answer.from.slice(0, 16).replace("T", " ")} to {answer.to.slice(0, 16).replace("T", " ")} UTC,{" "}
            {formatCount(answer.total, ...GROUP_WORDS[groups.by])} with usage
            {answer.total > MAX_CSV_GROUPS &&
              `; a CSV has the first ${formatNumber(MAX_CSV_GROUPS)}, so choose a shorter time for it`}
          </p>
          <Groups usage={answer} search={search} groups={groups} />
        </>
      )}
    </QueryResult>
  );
}

function Spent() {
  const search = route.useSearch();
  const { by = "day" } = search;
  const { names, label } = useLabel(search);
  const isKnown = by !== "label" || label !== undefined;
  return (
    <section className="screen" aria-labelledby="title">
      <header className="title-line">
        <h1 id="title">Usage</h1>
        {isKnown && (
          <a className="button" href={csvAddress(search, { by, label })} download>
            Download CSV
          </a>
        )}
      </header>
      <Filters search={search} />
      <Periods search={search} />
      <Groupings search={search} by={by} />
      {by === "label" && <LabelFilter names={names} label={label} search={search} />}
      {isKnown ? (
        <Sums search={search} groups={{ by, label }} />
      ) : (
        <QueryResult query={names} what="labels">
          {() => <NoLabels />}
        </QueryResult>
      )}
    </section>
  );
}

/** The organization's tokens, requests and pages, by day or by owner. */
export const Usage = () => (
  <ForAdministrators what="Usage">
    <Spent />
  </ForAdministrators>
);
