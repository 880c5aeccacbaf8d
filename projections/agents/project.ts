import type { AgentEvent } from "#events/agent.ts";
import { defineProjection, encode, type Row } from "../projection.ts";

type Changed = Extract<AgentEvent, { type: "AgentChanged" }>;

/** Columns that hold JSON, because what stands in them is free text or a list. */
const ENCODED = new Set(["name", "instructions", "model", "tools", "collections", "reasoning_effort"]);

/** Only what the event names. */
function columns(
  { agent_id: _, ...data }: Changed["data"],
  words: Partial<NonNullable<Changed["personal"]>> = {},
): Row {
  const named = Object.entries({ ...data, ...words }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(named.map(([name, value]) => [name, ENCODED.has(name) ? encode(value) : value])) as Row;
}

export const agents = defineProjection<AgentEvent>({
  name: "agents",
  version: 1,
  tables: new URL("table.sql", import.meta.url),
  on: {
    AgentCreated: ({ organization_id, data, personal, recorded_at }) =>
      personal
        ? [
            {
              table: "agents",
              kind: "put",
              key: { id: data.agent_id },
              row: { organization_id, ...columns(data, personal), created_at: recorded_at, updated_at: recorded_at },
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
