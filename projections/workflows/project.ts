import type { EventFrom } from "#events/define.ts";
import type { RunCreated } from "#events/run.ts";
import type { WorkflowEvent } from "#events/workflow.ts";
import { defineProjection, encodeColumns, putRow, thingRows, type Row } from "../projection.ts";

type WorkflowChange = Extract<WorkflowEvent, { type: "WorkflowChanged" }>;

/** Columns of JSON text: free text and objects. */
const ENCODED = new Set(["name", "description", "envelope"]);

/** The columns that an event sets. */
const columns = ({ workflow_id: _, ...data }: WorkflowChange["data"], personal: WorkflowChange["personal"] = {}): Row =>
  encodeColumns({ ...data, ...personal }, ENCODED);

const rows = thingRows("workflows");

export const workflows = defineProjection<WorkflowEvent | EventFrom<typeof RunCreated>>({
  name: "workflows",
  version: 1,
  tables: new URL("table.sql", import.meta.url),
  on: {
    WorkflowRegistered: (event) => {
      const { data, personal, meta } = event;
      if (!personal) return [];
      const row = columns({ ...data, envelope_version: 1 }, personal);
      const fixed = { definition_id: data.definition_id, created_by: meta.principal };
      return [rows.create(event, data.workflow_id, { ...row, ...fixed })];
    },
    WorkflowChanged: (event) => [rows.change(event, event.data.workflow_id, columns(event.data, event.personal))],
    RunCreated: ({ data: { trigger_id }, recorded_at }) =>
      trigger_id === null ? [] : [putRow("trigger_starts", { trigger_id }, { started_at: recorded_at })],
  },
});
