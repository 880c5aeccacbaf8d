import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { countRuns, listRuns, type RunFilter } from "../../api/queries.ts";
import type { RunSummary } from "../../api/types.ts";
import { formatCount, formatDuration, shortId } from "../../format/index.ts";
import { ActorLink } from "../../parts/ActorLink.tsx";
import { ROWS_PER_CHUNK } from "../../parts/VirtualRows.tsx";
import { NewRows } from "../../parts/NewRows.tsx";
import { EmptyState, QueryResult, NoMatch } from "../../parts/Notices.tsx";
import { Status } from "../../parts/Status.tsx";
import { PagedTable, Rows, type Columns } from "../../parts/Table.tsx";
import { Time } from "../../parts/Time.tsx";
import { ChangeAll } from "./ChangeAll.tsx";
import { useSnapshotTime } from "../../parts/useSnapshotTime.ts";
import { Filters } from "./Filters.tsx";
import { toFilter } from "./filter.ts";

const route = getRouteApi("/runs");

const lasted = ({ started_at, completed_at }: RunSummary): string =>
  started_at && completed_at ? formatDuration(Date.parse(completed_at) - Date.parse(started_at)) : "";

/** Links to all runs that failed at a step of this name. */
const FailedAt = ({ step }: { step: string }) => (
  <Link to="/runs" search={{ status: "failed", q: step }} title={`All runs that failed at ${step}`}>
    {step}
  </Link>
);

const COLUMNS: Columns<RunSummary> = [
  {
    title: "Run",
    cell: ({ id, workflow_name }) => (
      <Link to="/runs/$runId" params={{ runId: id }} data-row>
        {workflow_name ?? "deleted workflow"} <span className="mono quiet">{shortId(id)}</span>
      </Link>
    ),
  },
  {
    title: "Status",
    cell: ({ status, pending_approvals }) => (
      <Status status={pending_approvals > 0 ? "waiting for a person" : status} />
    ),
  },
  { title: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
  { title: "Started by", cell: ({ started_by }) => <ActorLink actor={started_by} /> },
  { title: "Took", number: true, cell: lasted },
  {
    title: "Failed at",
    cell: ({ error, error_info }) => (
      <>
        {error_info?.step && <FailedAt step={error_info.step} />}
        {error && <span className="bad-text clipped">{error}</span>}
      </>
    ),
  },
];

const NoRuns = ({ isFiltered }: { isFiltered: boolean }) =>
  isFiltered ? (
    <NoMatch what="run">
      <Link to="/runs">all runs</Link>
    </NoMatch>
  ) : (
    <EmptyState title="There are no runs yet">
      <ol>
        <li>
          Open a <Link to="/workflows">workflow</Link>, or write one there.
        </li>
        <li>
          Start it on its page, by a <Link to="/schedules">schedule</Link>, or from a program:{" "}
          <code>POST /api/workflows/&lt;id&gt;/runs</code>
        </li>
        <li>Come back: its runs appear here at once.</li>
      </ol>
    </EmptyState>
  );

/** The number of runs created since the list was loaded. */
function NewRuns({ filter, since, onShow }: { filter: RunFilter; since: string; onShow: () => void }) {
  const { data: count = 0 } = useQuery(countRuns({ ...filter, from: since, to: undefined }));
  return <NewRows count={count} what="run" onShow={onShow} />;
}

interface PageProps {
  filter: RunFilter;
  offset: number;
}

/** The rows of one page, loaded while the window is near them. */
function RunRows({ filter, offset }: PageProps) {
  const page = useQuery(listRuns(filter, offset, ROWS_PER_CHUNK));
  if (page.data) return <Rows columns={COLUMNS} rows={page.data.data} rowKey={({ id }) => id} />;
  return (
    <tr>
      <td colSpan={COLUMNS.length}>
        <QueryResult query={page} what="runs">
          {() => null}
        </QueryResult>
      </td>
    </tr>
  );
}

/** All runs of the organization, newest first. */
export function Runs() {
  const search = route.useSearch();
  const [until, renew] = useSnapshotTime();
  const filter = toFilter(search, until);
  const runs = useQuery(listRuns(filter, 0, ROWS_PER_CHUNK));
  return (
    <section className="screen" aria-labelledby="title">
      <h1 id="title">Runs</h1>
      <Filters search={search} />
      {search.to === undefined && <NewRuns filter={filter} since={until} onShow={renew} />}
      <QueryResult query={runs} what="runs">
        {(page) =>
          page.data.length === 0 ? (
            <NoRuns isFiltered={Object.values(search).some((value) => value !== undefined)} />
          ) : (
            <>
              <ChangeAll key={search.status} filter={filter} />
              <PagedTable
                key={JSON.stringify(search)}
                caption="Runs, newest first"
                columns={COLUMNS}
                total={page.total}
                page={(offset) => <RunRows filter={filter} offset={offset} />}
              />
              <p className="quiet">{formatCount(page.total, "run")}</p>
            </>
          )
        }
      </QueryResult>
    </section>
  );
}
