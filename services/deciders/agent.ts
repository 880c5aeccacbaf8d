import {
  AgentChanged,
  AgentCreated,
  AgentDeleted,
  AgentTurnsEnded,
  type AgentCommand,
  type AgentEvent,
} from "#events/agent.ts";
import type { Decider } from "#events/decider.ts";
import { Rejection } from "#events/rejection.ts";
import { eraseOn } from "./keyErasure.ts";
import { requireFewVersions } from "./versions.ts";

/** `deleted`: some of its turns that wait for people have not ended yet. */
type State = { status: "absent" } | { status: "active"; version: number } | { status: "deleted" } | { status: "gone" };

export const agent: Decider<State, AgentCommand, AgentEvent> = {
  version: 1,
  initial: { status: "absent" },
  decide(command, state) {
    if (command.type === "CreateAgent") {
      if (state.status !== "absent") throw new Rejection("agent_exists", "This agent exists already.");
      const { name, instructions, tool_approvals, ...settings } = command.data;
      const personal = { name, instructions, ...(tool_approvals && { tool_approvals }) };
      return [AgentCreated.of({ ...settings, version: 1 }, personal)];
    }
    if (command.type === "EndAgentTurns")
      return state.status === "deleted" ? [AgentTurnsEnded.of({ agent_id: command.data.agent_id })] : [];
    if (state.status !== "active") throw new Rejection("agent_not_found", "No agent has this id.");
    if (command.type === "DeleteAgent") return [AgentDeleted.of({ agent_id: command.data.agent_id })];
    requireFewVersions("agent", state.version);
    const { name, instructions, tool_approvals, ...settings } = command.data;
    const personal = { name, instructions, ...(tool_approvals && { tool_approvals }) };
    return [AgentChanged.of({ ...settings, version: state.version + 1 }, personal)];
  },
  evolve(_, event) {
    switch (event.type) {
      case "AgentCreated":
      case "AgentChanged":
        return { status: "active", version: event.data.version };
      case "AgentDeleted":
        return { status: "deleted" };
      case "AgentTurnsEnded":
        return { status: "gone" };
    }
  },
  workStatus: (state) => ({ status: state.status === "deleted" ? "ending" : null, due_at: null, worker: null }),
  erases: eraseOn("AgentDeleted"),
};
