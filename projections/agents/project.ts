import type { AgentEvent } from "#events/agent.ts";
import { defineProjection, encode, type Row } from "../projection.ts";

type AgentChange = Extract<AgentEvent, { type: "AgentChanged" }>;

/** Columns of JSON text: free text and lists. */
const ENCODED = new Set(["name", "instructions", "model", "tools", "collections", "reasoning_effort"]);

/** The columns that an event sets. */
function columns(
  { agent_id: _, ...data }: AgentChange["data"],
  personal: Partial<NonNullable<AgentChange["personal"]>> = {},
): Row {
  const fields = Object.entries({ ...data, ...personal }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(fields.map(([name, value]) => [name, ENCODED.has(name) ? encode(value) : value])) as Row;
}

export const agents = defineProjection<AgentEvent>({
  name: "agents",
  version: 2,
  tables: new URL("table.sql", import.meta.url),
  on: {
    AgentCreated: ({ organization_id, data, personal, recorded_at }) =>
      personal
        ? [
            {
              table: "agents",
              kind: "put",
              key: { id: data.agent_id },
              row: {
                organization_id,
                client_tools: false,
                ...columns(data, personal),
                created_at: recorded_at,
                updated_at: recorded_at,
              },
            },
          ]
        : [],
    AgentChanged: ({ data, personal, recorded_at }) => [
      {
        table: "agents",
        kind: "patch",
        key: { id: data.agent_id },
        row: { ...columns(data, personal), updated_at: recorded_at },
      },
    ],
    AgentDeleted: ({ data }) => [{ table: "agents", kind: "remove", key: { id: data.agent_id } }],
  },
});
