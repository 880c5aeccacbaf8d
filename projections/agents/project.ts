import type { AgentEvent } from "#events/agent.ts";
import { defineProjection, encodeColumns, thingRows, type Row } from "../projection.ts";

type AgentChange = Extract<AgentEvent, { type: "AgentChanged" }>;

/** Columns stored as JSON text: free text and lists. */
const ENCODED = new Set([
  "name",
  "instructions",
  "model",
  "tools",
  "collections",
  "reasoning_effort",
  "tool_approvals",
]);

/** The columns that an event sets. */
const columns = (
  { agent_id: _, ...data }: AgentChange["data"],
  personal: Partial<NonNullable<AgentChange["personal"]>> = {},
): Row => encodeColumns({ ...data, ...personal }, ENCODED);

const rows = thingRows("agents");

export const agents = defineProjection<AgentEvent>({
  name: "agents",
  version: 3,
  tables: new URL("table.sql", import.meta.url),
  on: {
    AgentCreated: (event) =>
      event.personal
        ? [
            rows.create(event, event.data.agent_id, {
              client_tools: false,
              tool_approvals: "{}",
              ...columns(event.data, event.personal),
            }),
          ]
        : [],
    AgentChanged: (event) => [rows.change(event, event.data.agent_id, columns(event.data, event.personal))],
    AgentDeleted: ({ data }) => [rows.remove(data.agent_id)],
    AgentTurnsEnded: () => [],
  },
});
