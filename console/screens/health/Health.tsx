import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { getDeploymentHealth, type Check, type DeploymentHealth, type Process } from "../../api/health.ts";
import { formatCount } from "../../format/index.ts";
import { QueryResult } from "../../parts/Notices.tsx";
import { ForAdministrators } from "../../parts/ForRole.tsx";
import { Status } from "../../parts/Status.tsx";
import { Table, type Columns } from "../../parts/Table.tsx";
import { Time } from "../../parts/Time.tsx";
import { DeadLetters } from "./DeadLetters.tsx";
import { Targets } from "./Targets.tsx";
import { adviceFor, describeDetail, lagOf } from "./describeCheck.ts";

interface NamedCheck extends Check {
  name: string;
}

const CHECKS: Columns<NamedCheck> = [
  { title: "Part", className: "whole", cell: ({ name }) => name },
  { title: "State", cell: ({ ok }) => <Status status={ok ? "ready" : "failed"} /> },
  {
    title: "Details",
    cell: ({ name, ok, detail }) => (
      <>
        {describeDetail(name, detail)}
        {!ok && <span className="bad-text block">{adviceFor(name)}</span>}
      </>
    ),
  },
];

const PROCESSES: Columns<Process> = [
  { title: "Process", cell: ({ id }) => <span className="mono">{id}</span> },
  { title: "Role", cell: ({ role }) => role },
  { title: "State", cell: ({ alive }) => <Status status={alive ? "active" : "lost"} /> },
  { title: "Last heartbeat", cell: ({ beat_at }) => <Time at={beat_at} /> },
];

const PARKED: Columns<DeploymentHealth["parked"][number]> = [
  {
    title: "Stream",
    cell: ({ stream }) => (
      <Link className="mono" to="/log" search={{ stream }} data-row>
        {stream}
      </Link>
    ),
  },
  { title: "Read model", cell: ({ projection }) => projection },
  { title: "Why", cell: ({ error }) => error },
  { title: "Since", cell: ({ parked_at }) => <Time at={parked_at} /> },
];

const Parked = ({ parked }: Pick<DeploymentHealth, "parked">) => (
  <section className="stack" aria-labelledby="parked">
    <h2 id="parked">Left out of read models</h2>
    {parked.length === 0 ? (
      <p className="quiet">No stream of your organization.</p>
    ) : (
      <>
        <p className="quiet">
          An event could not be projected. After a fix, <code>svc projections rebuild NAME</code> includes it again.
        </p>
        <Table
          caption="Streams that read models leave out"
          columns={PARKED}
          rows={parked}
          rowKey={({ projection, stream }) => `${projection} ${stream}`}
        />
      </>
    )}
  </section>
);

/** Broken parts first, then by name. */
const sorted = (checks: DeploymentHealth["checks"]): NamedCheck[] =>
  Object.entries(checks)
    .map(([name, check]) => ({ name, ...check }))
    .toSorted((a, b) => Number(a.ok) - Number(b.ok) || a.name.localeCompare(b.name));

const isReadModel = ({ name, ok }: NamedCheck): boolean => ok && name.startsWith("projection ");

/** Read models that have caught up share one line, because there are many and all report the same. */
function Parts({ checks }: Pick<DeploymentHealth, "checks">) {
  const all = sorted(checks);
  const readModels = all.filter(isReadModel);
  const furthest = Math.max(0, ...readModels.map(({ detail }) => lagOf(detail)));
  const table = (caption: string, rows: NamedCheck[]) => (
    <Table caption={caption} columns={CHECKS} rows={rows} rowKey={({ name }) => name} />
  );
  return (
    <>
      {table(
        "Dependencies, and read models that are behind",
        all.filter((check) => !isReadModel(check)),
      )}
      {readModels.length > 0 && (
        <details>
          <summary>
            {formatCount(readModels.length, "read model")} follow the log, {formatCount(furthest, "event")} behind at
            most
          </summary>
          {table("Read models", readModels)}
        </details>
      )}
    </>
  );
}

const Details = ({ health }: { health: DeploymentHealth }) => (
  <>
    <p className={health.ready ? "notice good" : "notice bad"} role="status">
      {health.ready ? "The service takes requests." : "The service cannot do all of its work."}{" "}
      <span className="quiet">Node {health.version.node}</span>
    </p>
    <section className="stack" aria-labelledby="parts">
      <h2 id="parts">Parts</h2>
      <Parts checks={health.checks} />
    </section>
    <section className="stack" aria-labelledby="processes">
      <h2 id="processes">Processes</h2>
      <Table caption="Processes" columns={PROCESSES} rows={health.processes} rowKey={({ id }) => id} />
    </section>
    <Targets targets={health.targets} />
    <Parked parked={health.parked} />
  </>
);

function Read() {
  const health = useQuery(getDeploymentHealth);
  return (
    <section className="screen" aria-labelledby="title">
      <h1 id="title">Health</h1>
      <QueryResult query={health} what="the health of the service">
        {(data) => <Details health={data} />}
      </QueryResult>
      <DeadLetters />
    </section>
  );
}

/** The main screen for operators. */
export const Health = () => (
  <ForAdministrators what="Health">
    <Read />
  </ForAdministrators>
);
