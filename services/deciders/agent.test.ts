import { expect, test } from "vitest";
import { AgentChanged, AgentCreated, AgentDeleted, AgentTurnsEnded } from "#events/agent.ts";
import { command, given } from "#test/given.ts";
import { agent } from "./agent.ts";

const settings = {
  model: "offline/echo",
  tools: [],
  collections: null,
  reasoning_effort: null,
  api_enabled: true,
  project_id: null,
  expose_tool_items: true,
};
const words = { name: "Helper", instructions: "Be brief." };
const created = AgentCreated.of({ agent_id: "a1", version: 1, ...settings }, words);

test("an agent can be created only once, and each change increments its version", () => {
  const create = command("CreateAgent", { agent_id: "a1", ...settings, ...words });
  given(agent).when(create).then(created);
  given(agent, [created]).when(create).rejected("agent_exists");
  const changed = AgentChanged.of({ agent_id: "a1", version: 2, tools: ["web_fetch"] }, { instructions: "Be long." });
  const change = command("ChangeAgent", { agent_id: "a1", tools: ["web_fetch"], instructions: "Be long." });
  given(agent, [created]).when(change).then(changed);
  expect(given(agent, [created, changed]).state).toEqual({ status: "active", version: 2 });
});

test("an agent has at most 10,000 versions, and can then be deleted", () => {
  const change = command("ChangeAgent", { agent_id: "a1", api_enabled: false });
  const version = (n: number) => AgentChanged.of({ agent_id: "a1", version: n, api_enabled: false }, {});
  given(agent, [created, version(9_999)])
    .when(change)
    .then(version(10_000));
  given(agent, [created, version(10_000)])
    .when(change)
    .rejected("too_many_versions");
  given(agent, [created, version(10_000)])
    .when(command("DeleteAgent", { agent_id: "a1" }))
    .then(AgentDeleted.of({ agent_id: "a1" }));
});

test("deleting an agent destroys its data key, and a deleted agent cannot be changed", () => {
  const deleted = AgentDeleted.of({ agent_id: "a1" });
  given(agent, [created])
    .when(command("DeleteAgent", { agent_id: "a1" }))
    .then(deleted);
  expect(agent.erases!([deleted], "agent-a1")).toEqual({ things: ["agent-a1"] });
  given(agent, [created, deleted])
    .when(command("ChangeAgent", { agent_id: "a1" }))
    .rejected("agent_not_found");
});

test("a deleted agent is work until its turns that wait for people have ended", () => {
  const deleted = AgentDeleted.of({ agent_id: "a1" });
  const ended = AgentTurnsEnded.of({ agent_id: "a1" });
  const end = command("EndAgentTurns", { agent_id: "a1" });
  const status = (...events: object[]) => agent.workStatus!(given(agent, events as never).state).status;
  expect([status(created), status(created, deleted), status(created, deleted, ended)]).toEqual([null, "ending", null]);
  given(agent, [created, deleted]).when(end).then(ended);
  given(agent, [created, deleted, ended]).when(end).then();
  given(agent, [created]).when(end).then();
});
