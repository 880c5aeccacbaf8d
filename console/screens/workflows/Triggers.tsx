import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { createTrigger, deleteTrigger, listTriggers, type Trigger, type Workflow } from "../../api/build.ts";
import { useRole } from "../../api/useRole.ts";
import { formatNumber } from "../../format/index.ts";
import type { Action } from "../../parts/action.ts";
import { Form } from "../../parts/Form.tsx";
import { formText } from "../../parts/formText.ts";
import { ErrorNotice, Loaded } from "../../parts/Notices.tsx";
import { RemoveButton, useRemoval } from "../../parts/RemoveButton.tsx";
import { ShownOnce } from "../../parts/ShownOnce.tsx";
import { Status } from "../../parts/Status.tsx";
import { Table, type Columns } from "../../parts/Table.tsx";
import { Time } from "../../parts/Time.tsx";
import { describeRule } from "../schedules/rule.ts";

const stateOf = ({ enabled, paused }: Trigger): string => (enabled ? (paused ? "paused" : "active") : "disabled");

const columns = (mayChange: boolean, removal: Action<string>): Columns<Trigger> => [
  {
    title: "Trigger",
    cell: ({ kind, name, hook_url, schedule }) => (
      <>
        {name || `A ${kind}`}
        <span className="quiet block">{schedule ? describeRule(schedule) : hook_url}</span>
      </>
    ),
  },
  { title: "State", cell: (trigger) => <Status status={stateOf(trigger)} /> },
  { title: "Runs", wide: true, number: true, cell: ({ runs }) => formatNumber(runs) },
  { title: "Last used", wide: true, cell: ({ last_used_at }) => last_used_at && <Time at={last_used_at} /> },
  ...(mayChange
    ? [
        {
          title: "Actions",
          cell: ({ id, name, enabled }: Trigger) =>
            enabled && (
              <RemoveButton
                id={id}
                label="Remove"
                question={`Remove the trigger “${name}”? It starts no run any more. Its runs stay.`}
                removal={removal}
              />
            ),
        },
      ]
    : []),
];

/** A webhook, with the command that calls it. */
function NewWebhook({ workflow }: { workflow: Workflow }) {
  const queries = useQueryClient();
  const create = useMutation({
    mutationFn: async (form: FormData) => createTrigger(workflow.id, { name: formText(form, "name") }),
    onSettled: () => queries.invalidateQueries({ queryKey: ["trigger"] }),
  });
  const { data } = create;
  return (
    <>
      <Form submit="Add webhook" send={create}>
        <label>
          Name of a new webhook
          <input name="name" required maxLength={200} autoComplete="off" />
        </label>
      </Form>
      {data?.secret && (
        <ShownOnce title={`The webhook “${data.name}” was added`} secret={data.secret}>
          Send it with each request:{" "}
          <code>
            {`curl ${data.hook_url} -H "authorization: Bearer ${data.secret}" -H "content-type: application/json" -d '{}'`}
          </code>
        </ShownOnce>
      )}
    </>
  );
}

/** What starts runs of a workflow by itself. */
export function Triggers({ workflow }: { workflow: Workflow }) {
  const { isBuilder } = useRole();
  const triggers = useQuery(listTriggers(workflow.id));
  const removal = useRemoval("trigger", async (id) => deleteTrigger({ id, workflow_id: workflow.id }));
  return (
    <section className="stack" aria-labelledby="triggers">
      <h2 id="triggers">Triggers</h2>
      <Loaded query={triggers} what="triggers">
        {({ data }) => (
          <>
            {removal.isError && <ErrorNotice error={removal.error} />}
            {data.length === 0 ? (
              <p className="quiet">Nothing starts it but people and programs with a key.</p>
            ) : (
              <Table caption="Triggers" columns={columns(isBuilder, removal)} rows={data} rowKey={({ id }) => id} />
            )}
          </>
        )}
      </Loaded>
      {isBuilder && (
        <>
          <NewWebhook workflow={workflow} />
          <p>
            <Link to="/schedules" search={{ workflow: workflow.id }}>
              Add a schedule
            </Link>
          </p>
        </>
      )}
    </section>
  );
}
