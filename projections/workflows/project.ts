import type { EventFrom } from "#events/define.ts";
import type { RunCreated } from "#events/run.ts";
import type { WorkflowEvent } from "#events/workflow.ts";
import { defineProjection, encode, type Row } from "../projection.ts";

type WorkflowChange = Extract<WorkflowEvent, { type: "WorkflowChanged" }>;

/** Columns of JSON text: free text and objects. */
const ENCODED = new Set(["name", "description", "envelope"]);

/** The columns that an event sets. */
function columns({ workflow_id: _, ...data }: WorkflowChange["data"], personal: WorkflowChange["personal"] = {}): Row {
  const fields = Object.entries({ ...data, ...personal }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(fields.map(([name, value]) => [name, ENCODED.has(name) ? encode(value) : value])) as Row;
}

export const workflows = defineProjection<WorkflowEvent | EventFrom<typeof RunCreated>>({
  name: "workflows",
  version: 1,
  tables: new URL("table.sql", import.meta.url),
  on: {
    WorkflowRegistered: ({ organization_id, data, personal, meta, recorded_at }) =>
      personal
        ? [
            {
              table: "workflows",
              kind: "put",
              key: { id: data.workflow_id },
              row: {
                organization_id,
                definition_id: data.definition_id,
                ...columns({ ...data, envelope_version: 1 }, personal),
                created_by: meta.principal,
                created_at: recorded_at,
                updated_at: recorded_at,
              },
            },
          ]
        : [],
    WorkflowChanged: ({ data, personal, recorded_at }) => [
      {
        table: "workflows",
        kind: "patch",
        key: { id: data.workflow_id },
        row: { ...columns(data, personal), updated_at: recorded_at },
      },
    ],
    RunCreated: ({ data: { trigger_id }, recorded_at }) =>
      trigger_id === null
        ? []
        : [{ table: "trigger_starts", kind: "put", key: { trigger_id }, row: { started_at: recorded_at } }],
  },
});
