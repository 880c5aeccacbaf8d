import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Workflow } from "../../api/build.ts";
import { deleteTrigger, listTriggers, rotateTrigger, type Trigger } from "../../api/triggers.ts";
import { useRole } from "../../api/useRole.ts";
import { formatNumber } from "../../format/index.ts";
import type { Action } from "../../parts/action.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { ErrorNotice, QueryResult } from "../../parts/Notices.tsx";
import { RemoveButton } from "../../parts/RemoveButton.tsx";
import { Status } from "../../parts/Status.tsx";
import { Table, type Columns } from "../../parts/Table.tsx";
import { Time } from "../../parts/Time.tsx";
import { describeRule } from "../schedules/rule.ts";
import { useChange } from "../../parts/useChange.ts";
import { HookSecret, NewWebhook } from "./NewWebhook.tsx";

const stateOf = ({ enabled, paused }: Trigger): string => (enabled ? (paused ? "paused" : "active") : "disabled");

const columns = (mayChange: boolean, removal: Action<string>, rotation: Action<Trigger>): Columns<Trigger> => [
  {
    title: "Trigger",
    cell: ({ kind, name, hook_url, schedule, event }) => (
      <>
        {name || `A ${kind}`}
        {event && <span className="quiet block">sends the event “{event}”, and starts no run</span>}
        <span className="quiet block">{schedule ? describeRule(schedule) : hook_url}</span>
      </>
    ),
  },
  { title: "State", cell: (trigger) => <Status status={stateOf(trigger)} /> },
  { title: "Runs", number: true, cell: ({ runs }) => formatNumber(runs) },
  { title: "Last used", cell: ({ last_used_at }) => last_used_at && <Time at={last_used_at} /> },
  ...(mayChange
    ? [
        {
          title: "Actions",
          cell: (trigger: Trigger) =>
            trigger.enabled && (
              <p className="buttons">
                {trigger.kind === "webhook" && (
                  <ActionButton
                    label="New secret"
                    question={`Give “${trigger.name}” a new secret? The old one stops working at once.`}
                    action={{ ...rotation, mutate: () => rotation.mutate(trigger) }}
                  />
                )}
                <RemoveButton
                  id={trigger.id}
                  label="Remove"
                  about={trigger.name}
                  question={`Remove the trigger “${trigger.name}”? It starts no run any more. Its runs stay.`}
                  removal={removal}
                />
              </p>
            ),
        },
      ]
    : []),
];

export function Triggers({ workflow }: { workflow: Workflow }) {
  const { isBuilder } = useRole();
  const triggers = useQuery(listTriggers(workflow.id));
  const removal = useChange("trigger", (id: string) => deleteTrigger({ id, workflow_id: workflow.id }));
  const rotation = useChange("trigger", rotateTrigger);
  return (
    <section className="stack" aria-labelledby="triggers">
      <h2 id="triggers">Triggers</h2>
      <QueryResult query={triggers} what="triggers">
        {({ data }) => (
          <>
            {removal.isError && <ErrorNotice error={removal.error} />}
            {rotation.isError && <ErrorNotice error={rotation.error} />}
            {rotation.data && <HookSecret trigger={rotation.data} what="has a new secret" />}
            {data.length === 0 ? (
              <p className="quiet">Nothing starts it but people and programs with a key.</p>
            ) : (
              <Table
                caption="Triggers"
                columns={columns(isBuilder, removal, rotation)}
                rows={data}
                rowKey={({ id }) => id}
              />
            )}
          </>
        )}
      </QueryResult>
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
