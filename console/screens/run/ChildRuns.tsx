import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { listChildRuns, type ChildRun, type Run } from "../../api/run.ts";
import type { RunSummary } from "../../api/types.ts";
import { formatCount } from "../../format/index.ts";
import { QueryResult } from "../../parts/Notices.tsx";
import { RunLink } from "../../parts/RunLink.tsx";
import { Status } from "../../parts/Status.tsx";
import { Table, type Columns } from "../../parts/Table.tsx";
import { Time } from "../../parts/Time.tsx";

const FATES = { cancel: "is cancelled with this run", leave: "goes on without this run" } as const;

const columnsFor = (children: readonly ChildRun[]): Columns<RunSummary> => [
  {
    title: "Workflow",
    cell: ({ id, workflow_name }) => (
      <>
        {workflow_name ?? "deleted workflow"} <RunLink id={id} />
      </>
    ),
  },
  { title: "Status", cell: ({ status }) => <Status status={status} /> },
  { title: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
  {
    title: "If this run fails",
    cell: ({ id }) => FATES[children.find(({ run_id }) => run_id === id)?.on_parent_end ?? "cancel"],
  },
];

/** Starts without a run, because they were refused or are still in progress. */
const NotStarted = ({ starts, isOver }: { starts: readonly ChildRun[]; isOver: boolean }) =>
  starts.map(({ run_id, workflow }) => (
    <p key={run_id} className="quiet">
      {isOver ? "Could not start" : "Starts"} a run of {workflow ?? "a workflow"}.
    </p>
  ));

/** The child runs of this run, newest first. */
export function ChildRuns({ run, isOver }: { run: Run; isOver: boolean }) {
  const runs = useQuery({ ...listChildRuns(run.id), enabled: run.child_runs.length > 0 });
  if (run.child_runs.length === 0) return null;
  const columns = columnsFor(run.child_runs);
  return (
    <section className="stack" aria-labelledby="children">
      <h2 id="children">Runs that it started</h2>
      <QueryResult query={runs} what="runs">
        {({ data, total }) => (
          <>
            {data.length > 0 && (
              <Table caption="Child runs, newest first" columns={columns} rows={data} rowKey={({ id }) => id} />
            )}
            {total > data.length && (
              <p>
                <Link to="/runs" search={{ starter: run.id }}>
                  All {formatCount(total, "run")}
                </Link>
              </p>
            )}
          </>
        )}
      </QueryResult>
      <NotStarted starts={run.child_runs.filter(({ started }) => !started)} isOver={isOver} />
    </section>
  );
}
