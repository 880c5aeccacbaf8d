import { describe, expect, test } from "vitest";
import { AgentChanged, AgentCreated, AgentDeleted } from "#events/agent.ts";
import { projectEvents, erased, ORGANIZATION, RECORDED_AT } from "#test/projections/projectEvents.ts";
import { agents } from "./project.ts";

const agent_id = "0198c0de-0000-7000-8000-00000000000a";
const key = { id: agent_id };
const from = (...events: Parameters<typeof projectEvents>[2][]) =>
  projectEvents(agents, `agent-${agent_id}`, ...events);
const created = AgentCreated.of(
  {
    agent_id,
    version: 1,
    model: "offline/echo",
    tools: ["web_fetch"],
    collections: null,
    reasoning_effort: null,
    api_enabled: true,
    project_id: null,
    expose_tool_items: true,
  },
  { name: "Helper \u0000", instructions: "" },
);

describe("the agents projection", () => {
  test("inserts a created agent", () => {
    expect(from(created)).toEqual([
      {
        table: "agents",
        kind: "put",
        key,
        row: {
          organization_id: ORGANIZATION,
          version: 1,
          name: JSON.stringify("Helper \u0000"),
          instructions: '""',
          model: '"offline/echo"',
          tool_approvals: "{}",
          tools: '["web_fetch"]',
          collections: null,
          reasoning_effort: null,
          api_enabled: true,
          project_id: null,
          expose_tool_items: true,
          client_tools: false,
          created_at: RECORDED_AT,
          updated_at: RECORDED_AT,
        },
      },
    ]);
    expect(from(erased(created))).toEqual([]);
  });

  test("patches only the changed columns, and removes a deleted agent", () => {
    expect(from(AgentChanged.of({ agent_id, version: 2, model: null }, {}))).toEqual([
      { table: "agents", kind: "patch", key, row: { version: 2, model: null, updated_at: RECORDED_AT } },
    ]);
    expect(from(AgentDeleted.of({ agent_id }))).toEqual([{ table: "agents", kind: "remove", key }]);
  });
});
