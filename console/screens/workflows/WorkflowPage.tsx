import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { changeWorkflow, getWorkflow, listRegistrable, type Workflow } from "../../api/build.ts";
import { useRole } from "../../api/useRole.ts";
import { formatCount } from "../../format/index.ts";
import { QueryResult } from "../../parts/Notices.tsx";
import { Status } from "../../parts/Status.tsx";
import { ThingActions } from "../../parts/ThingActions.tsx";
import { ThingScreen } from "../../parts/ThingScreen.tsx";
import { RunForm } from "../definition/RunForm.tsx";
import { EnvelopeForm } from "./EnvelopeForm.tsx";
import { Triggers } from "./Triggers.tsx";

const route = getRouteApi("/workflows/$workflowId");

function Facts({ workflow }: { workflow: Workflow }) {
  const { isBuilder } = useRole();
  const { id, definition, runs } = workflow;
  return (
    <dl className="facts">
      <dt>Code</dt>
      <dd>
        {isBuilder ? (
          <Link to="/definitions/$definitionId" params={{ definitionId: definition.id }}>
            {definition.name ?? "deleted definition"}
          </Link>
        ) : (
          definition.name
        )}
        , version {definition.version}
        {definition.latest_version !== null && definition.latest_version > definition.version && (
          <span className="quiet"> (the newest is {definition.latest_version})</span>
        )}
        {isBuilder && (
          <>
            {" · "}
            <Link
              to="/definitions/$definitionId"
              params={{ definitionId: definition.id }}
              search={{ view: "versions" }}
            >
              see or restore versions
            </Link>
          </>
        )}
      </dd>
      <dt>Runs</dt>
      <dd>
        <Link to="/runs" search={{ workflow: id }}>
          {formatCount(runs.total, "run")}
        </Link>
        , {runs.live} live
      </dd>
      <dt>Id</dt>
      <dd className="mono">{id}</dd>
    </dl>
  );
}

function Actions({ workflow: { id, name, enabled, definition } }: { workflow: Workflow }) {
  const isOld = definition.latest_version !== null && definition.latest_version > definition.version;
  const actions = [
    {
      label: enabled ? "Disable" : "Enable",
      question: enabled ? `Disable “${name}”? It starts no run until it is enabled. Live runs go on.` : undefined,
      run: () => changeWorkflow(id, { enabled: !enabled }),
    },
    ...(isOld
      ? [
          {
            label: `Move to version ${definition.latest_version}`,
            run: () => changeWorkflow(id, { definition_version: null }),
          },
        ]
      : []),
  ];
  return <ThingActions actions={actions} kind="workflow" />;
}

function Start({ workflow }: { workflow: Workflow }) {
  const registrable = useQuery(listRegistrable);
  return (
    <section className="stack" aria-labelledby="start">
      <h2 id="start">Start a run</h2>
      <QueryResult query={registrable} what="the arguments of a run">
        {({ data }) => (
          <RunForm workflow={workflow} schema={data.find(({ id }) => id === workflow.definition.id)?.args ?? null} />
        )}
      </QueryResult>
    </section>
  );
}

function Details({ workflow }: { workflow: Workflow }) {
  const { isBuilder, mayWrite } = useRole();
  return (
    <>
      <header className="title-line">
        <h1>{workflow.name}</h1>
        <Status status={workflow.enabled ? "active" : "disabled"} />
      </header>
      {isBuilder && <Actions workflow={workflow} />}
      <Facts workflow={workflow} />
      {mayWrite && workflow.enabled && <Start workflow={workflow} />}
      <Triggers workflow={workflow} />
      {isBuilder && <EnvelopeForm workflow={workflow} />}
    </>
  );
}

/** One registered workflow: its code, its triggers, its rules, and a form to start a run. */
export function WorkflowPage() {
  const { workflowId } = route.useParams();
  const workflow = useQuery(getWorkflow(workflowId));
  return (
    <ThingScreen back={<Link to="/workflows">← Workflows</Link>} query={workflow} kind="Workflow">
      {(data) => <Details key={data.id} workflow={data} />}
    </ThingScreen>
  );
}
