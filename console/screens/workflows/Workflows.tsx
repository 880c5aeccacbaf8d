import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { listAllWorkflows, listDefinitions, type Definition, type Workflow } from "../../api/build.ts";
import { useRole } from "../../api/useRole.ts";
import { formatCount, formatNumber } from "../../format/index.ts";
import { EmptyState, QueryResult } from "../../parts/Notices.tsx";
import { Status } from "../../parts/Status.tsx";
import { Table, type Columns } from "../../parts/Table.tsx";
import { Time } from "../../parts/Time.tsx";

const COLUMNS: Columns<Workflow> = [
  {
    title: "Workflow",
    cell: ({ id, name, description }) => (
      <>
        <Link to="/workflows/$workflowId" params={{ workflowId: id }} data-row>
          {name}
        </Link>
        <span className="quiet clipped">{description}</span>
      </>
    ),
  },
  { title: "State", cell: ({ enabled }) => <Status status={enabled ? "active" : "disabled"} /> },
  {
    title: "Version",
    number: true,
    cell: ({ definition: { version, latest_version } }) =>
      latest_version === null || latest_version === version ? version : `${version} of ${latest_version}`,
  },
  {
    title: "Runs",
    number: true,
    cell: ({ id, runs }) => (
      <Link to="/runs" search={{ workflow: id }}>
        {formatNumber(runs.total)}
        {runs.live > 0 && ` (${formatNumber(runs.live)} live)`}
      </Link>
    ),
  },
  { title: "Triggers", number: true, cell: ({ triggers }) => triggers },
  { title: "Changed", cell: ({ updated_at }) => <Time at={updated_at} /> },
];

/** Saved definitions that no workflow uses yet. */
function Unregistered({ workflows }: { workflows: Workflow[] }) {
  const { data } = useQuery(listDefinitions("workflow"));
  const used = new Set(workflows.map(({ definition }) => definition.id));
  const rest = data?.data.filter(({ id }) => !used.has(id)) ?? [];
  if (rest.length === 0) return null;
  return (
    <section aria-labelledby="unregistered" className="stack">
      <h2 id="unregistered">{formatCount(rest.length, "definition")} without a workflow</h2>
      <ul>
        {rest.map(({ id, name }: Definition) => (
          <li key={id}>
            <Link to="/definitions/$definitionId" params={{ definitionId: id }}>
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

const NoWorkflows = ({ mayWrite }: { mayWrite: boolean }) => (
  <EmptyState title="There are no workflows">
    {mayWrite && (
      <ol>
        <li>
          <Link to="/definitions/new" search={{ type: "workflow" }}>
            Write one
          </Link>{" "}
          in TypeScript; a new one begins with one that works.
        </li>
        <li>Register it, and start a run beside the editor.</li>
        <li>
          Let a webhook or a <Link to="/schedules">schedule</Link> start it.
        </li>
      </ol>
    )}
  </EmptyState>
);

/** The registered workflows, and the definitions without a workflow. */
export function Workflows() {
  const { isBuilder } = useRole();
  const workflows = useQuery(listAllWorkflows);
  return (
    <section className="screen" aria-labelledby="title">
      <header className="title-line">
        <h1 id="title">Workflows</h1>
        {isBuilder && (
          <Link className="button primary" to="/definitions/new" search={{ type: "workflow" }}>
            New workflow
          </Link>
        )}
      </header>
      <QueryResult query={workflows} what="workflows">
        {({ data }) => (
          <>
            {data.length === 0 ? (
              <NoWorkflows mayWrite={isBuilder} />
            ) : (
              <Table caption="Workflows" columns={COLUMNS} rows={data} rowKey={({ id }) => id} />
            )}
            {isBuilder && <Unregistered workflows={data} />}
          </>
        )}
      </QueryResult>
    </section>
  );
}
