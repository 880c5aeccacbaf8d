import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { listAllWorkflows, type Workflow } from "../../api/build.ts";
import { listSchedules, type Trigger } from "../../api/triggers.ts";
import { useRole } from "../../api/useRole.ts";
import { formatDue } from "../../format/index.ts";
import { EmptyState, QueryResult } from "../../parts/Notices.tsx";
import { Status } from "../../parts/Status.tsx";
import { Table, type Columns } from "../../parts/Table.tsx";
import { Time } from "../../parts/Time.tsx";
import { NewSchedule } from "./NewSchedule.tsx";
import { describeRule } from "./rule.ts";
import { ScheduleActions } from "./ScheduleActions.tsx";

const route = getRouteApi("/schedules");

function Last({ last }: { last: Trigger["last_fired"] }) {
  if (!last) return <span className="quiet">never</span>;
  const { due_at, outcome, run_id, error } = last;
  return (
    <>
      {run_id ? (
        <Link to="/runs/$runId" params={{ runId: run_id }}>
          {outcome}
        </Link>
      ) : (
        outcome
      )}{" "}
      <Time at={due_at} />
      {error && <span className="bad-text block">{error.message ?? error.code}</span>}
    </>
  );
}

const Next = ({ times }: { times: string[] }) =>
  times.length === 0 ? (
    <span className="quiet">none</span>
  ) : (
    <ol className="plain next-times">
      {times.map((at, n) => (
        <li key={at}>{n === 0 ? <Time at={at} /> : <span className="quiet">{formatDue(new Date(at))}</span>}</li>
      ))}
    </ol>
  );

const columns = (workflows: Map<string, Workflow>, mayChange: boolean): Columns<Trigger> => [
  {
    title: "Schedule",
    cell: ({ name, schedule, workflow_id }) => (
      <>
        <Link to="/workflows/$workflowId" params={{ workflowId: workflow_id }} data-row>
          {name || "Without a name"}
        </Link>
        <span className="quiet block">
          {workflows.get(workflow_id)?.name ?? "a workflow"}: {schedule && describeRule(schedule)}
        </span>
      </>
    ),
  },
  { title: "State", cell: ({ paused }) => <Status status={paused ? "paused" : "active"} /> },
  { title: "Next times", cell: ({ next_times }) => <Next times={next_times ?? []} /> },
  { title: "Last time", cell: ({ last_fired }) => <Last last={last_fired} /> },
  ...(mayChange ? [{ title: "Actions", cell: (schedule: Trigger) => <ScheduleActions schedule={schedule} /> }] : []),
];

/** Builders can add schedules; others only read them. */
const NoSchedules = ({ mayMake }: { mayMake: boolean }) =>
  mayMake ? (
    <FirstSchedule />
  ) : (
    <EmptyState title="There are no schedules">
      <p>
        Builders and administrators set when runs start. See <Link to="/workflows">what can be started</Link>, or{" "}
        <Link to="/runs">which runs there are</Link>.
      </p>
    </EmptyState>
  );

const FirstSchedule = () => (
  <EmptyState title="There are no schedules">
    <ol>
      <li>
        <Link to="/workflows">Register a workflow</Link>, or take one that you have.
      </li>
      <li>Say below when it should start, and with which arguments.</li>
      <li>See here when it is due next, and what became of the last time.</li>
    </ol>
  </EmptyState>
);

/** The schedules of all workflows. */
export function Schedules() {
  const { workflow } = route.useSearch();
  const { isBuilder } = useRole();
  const schedules = useQuery(listSchedules);
  const workflows = useQuery(listAllWorkflows);
  const known = new Map(workflows.data?.data.map((one) => [one.id, one]));
  return (
    <section className="screen" aria-labelledby="title">
      <h1 id="title">Schedules</h1>
      <QueryResult query={schedules} what="schedules">
        {({ data }) =>
          data.length === 0 ? (
            <NoSchedules mayMake={isBuilder} />
          ) : (
            <Table
              caption="Schedules, newest first"
              columns={columns(known, isBuilder)}
              rows={data}
              rowKey={({ id }) => id}
            />
          )
        }
      </QueryResult>
      {isBuilder && (
        <QueryResult query={workflows} what="workflows">
          {(all) => <NewSchedule workflows={all} chosen={workflow} />}
        </QueryResult>
      )}
    </section>
  );
}
