import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { countNewRuns, listRuns, type RunFilter } from "../../api/queries.ts";
import type { Page, RunSummary } from "../../api/types.ts";
import { formatCount, formatDuration, formatNumber, shortId } from "../../format/index.ts";
import { Empty, Loaded } from "../../parts/Notices.tsx";
import { Status } from "../../parts/Status.tsx";
import { Time } from "../../parts/Time.tsx";
import { Filters } from "./Filters.tsx";

const PAGE = 50;
const route = getRouteApi("/runs");

const lasted = ({ started_at, completed_at }: RunSummary): string =>
  started_at && completed_at ? formatDuration(Date.parse(completed_at) - Date.parse(started_at)) : "";

const Row = ({ run }: { run: RunSummary }) => (
  <tr>
    <td>
      <Link to="/runs/$runId" params={{ runId: run.id }} data-row>
        {run.workflow_name ?? "deleted workflow"} <span className="mono quiet">{shortId(run.id)}</span>
      </Link>
    </td>
    <td>
      <Status status={run.status} />
    </td>
    <td>
      <Time at={run.created_at} />
    </td>
    <td className="wide number">{lasted(run)}</td>
    <td className="wide">{run.error && <span className="bad-text clipped">{run.error}</span>}</td>
  </tr>
);

const Table = ({ page }: { page: Page<RunSummary> }) => (
  <div className="card table">
    <table>
      <caption className="hidden-text">Runs, newest first</caption>
      <thead>
        <tr>
          <th scope="col">Run</th>
          <th scope="col">Status</th>
          <th scope="col">Created</th>
          <th scope="col" className="wide number">
            Took
          </th>
          <th scope="col" className="wide">
            Error
          </th>
        </tr>
      </thead>
      <tbody>
        {page.data.map((run) => (
          <Row key={run.id} run={run} />
        ))}
      </tbody>
    </table>
  </div>
);

const NoRuns = ({ isFiltered }: { isFiltered: boolean }) =>
  isFiltered ? (
    <Empty title="No run matches the filters">
      <p>
        See <Link to="/runs">all runs</Link>.
      </p>
    </Empty>
  ) : (
    <Empty title="There are no runs yet">
      <ol>
        <li>
          Save a workflow as a definition: <code>POST /api/definitions</code>
        </li>
        <li>
          Register it: <code>POST /api/workflows</code>
        </li>
        <li>
          Start it: <code>POST /api/workflows/&lt;id&gt;/runs</code>, or by a trigger
        </li>
      </ol>
      <p>Its runs appear here at once. The README shows these commands in full.</p>
    </Empty>
  );

/** Rows stay in place: new runs only raise the count on a button. */
function NewRuns({ filter, since, onShow }: { filter: RunFilter; since: string; onShow: () => void }) {
  const { data: count = 0 } = useQuery(countNewRuns(filter, since));
  return (
    <div role="status">
      {count > 0 && (
        <button type="button" className="button new" onClick={onShow}>
          Show {formatCount(count, "new run")}
        </button>
      )}
    </div>
  );
}

/** All runs of the organization, newest first. */
export function Runs() {
  const filter = route.useSearch();
  const [until, setUntil] = useState(() => new Date().toISOString());
  const [limit, setLimit] = useState(PAGE);
  const runs = useQuery(listRuns(filter, until, limit));
  return (
    <section className="screen" aria-labelledby="title">
      <h1 id="title">Runs</h1>
      <Filters filter={filter} />
      <NewRuns filter={filter} since={until} onShow={() => setUntil(new Date().toISOString())} />
      <Loaded query={runs} what="runs">
        {(page) =>
          page.data.length === 0 ? (
            <NoRuns isFiltered={Object.values(filter).some((value) => value !== undefined)} />
          ) : (
            <>
              <Table page={page} />
              <p className="quiet">
                {formatNumber(page.data.length)} of {formatCount(page.total, "run")}{" "}
                {page.total > page.data.length && limit < 500 && (
                  <button type="button" className="button small" onClick={() => setLimit(Math.min(500, limit + PAGE))}>
                    Show more
                  </button>
                )}
              </p>
            </>
          )
        }
      </Loaded>
    </section>
  );
}
