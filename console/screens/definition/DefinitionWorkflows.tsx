import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { changeWorkflow, listAllWorkflows, registerWorkflow, type Definition, type Workflow } from "../../api/build.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { ErrorNotice, QueryResult } from "../../parts/Notices.tsx";
import { useChange } from "../../parts/useChange.ts";
import { RunForm } from "./RunForm.tsx";

function Registered({ workflow, definition }: { workflow: Workflow; definition: Definition }) {
  const move = useChange("workflow", () => changeWorkflow(workflow.id, { definition_version: null }));
  return (
    <li>
      <Link to="/workflows/$workflowId" params={{ workflowId: workflow.id }}>
        {workflow.name}
      </Link>{" "}
      <span className="quiet">
        version {workflow.definition.version}
        {!workflow.enabled && ", disabled"}
      </span>{" "}
      {workflow.definition.version < definition.version && (
        <ActionButton label={`Move to version ${definition.version}`} action={move} />
      )}
      {move.isError && <ErrorNotice error={move.error} />}
    </li>
  );
}

/** The workflows that use an older version than the newest, so that what was saved or restored does not count for them yet. */
export function OutdatedWorkflows({ definition }: { definition: Definition }) {
  const { data } = useQuery(listAllWorkflows);
  const isBehind = ({ definition: { id, version } }: Workflow) => id === definition.id && version < definition.version;
  const behind = data?.data.filter(isBehind) ?? [];
  if (behind.length === 0) return null;
  return (
    <section className="notice warn" aria-label="Workflows with an older version">
      <p>
        The newest version is {definition.version}. A workflow uses it once it is moved there; live runs keep theirs.
      </p>
      <ul className="plain stack">
        {behind.map((workflow) => (
          <Registered key={workflow.id} workflow={workflow} definition={definition} />
        ))}
      </ul>
    </section>
  );
}

/** The workflows that use a definition, and a form to try a run. */
export function DefinitionWorkflows({ definition }: { definition: Definition }) {
  const workflows = useQuery(listAllWorkflows);
  const register = useChange("workflow", () => registerWorkflow(definition.id));
  return (
    <section className="stack" aria-labelledby="try">
      <h2 id="try">Try it</h2>
      <QueryResult query={workflows} what="its workflows">
        {({ data }) => {
          const own = data.filter((workflow) => workflow.definition.id === definition.id);
          const first = own.find(({ enabled }) => enabled);
          return (
            <>
              {own.length === 0 && <p className="quiet">Register it, so that it can be started.</p>}
              <ul className="plain stack">
                {own.map((workflow) => (
                  <Registered key={workflow.id} workflow={workflow} definition={definition} />
                ))}
              </ul>
              {own.length === 0 && <ActionButton label="Register as a workflow" action={register} />}
              {register.isError && <ErrorNotice error={register.error} />}
              {first && <RunForm key={first.definition.version} workflow={first} schema={definition.parameters} />}
            </>
          );
        }}
      </QueryResult>
    </section>
  );
}
