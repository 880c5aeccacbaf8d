import type { AgentEvent } from "#events/agent.ts";
import type { RecordedEvent } from "#events/envelope.ts";
import type { KeyEvent } from "#events/key.ts";
import type { Change } from "../projection.ts";

/* The project of each key and agent. Kept after their deletion, because their usage stays. */

export type ProjectEvent =
  | Extract<KeyEvent, { type: "KeyCreated" }>
  | Extract<AgentEvent, { type: "AgentCreated" | "AgentChanged" }>;

const putProject = ({ organization_id }: RecordedEvent, owner: string, project_id: string | null): Change => ({
  table: "usage_projects",
  kind: "put",
  key: { owner },
  row: { organization_id, project_id },
});

type OwnerEvent<T extends ProjectEvent["type"]> = RecordedEvent<Extract<ProjectEvent, { type: T }>>;

export const projectsOfOwners = {
  KeyCreated: (event: OwnerEvent<"KeyCreated">) => [
    putProject(event, `key:${event.data.key_id}`, event.data.project_id),
  ],
  AgentCreated: (event: OwnerEvent<"AgentCreated">) => [
    putProject(event, `agent:${event.data.agent_id}`, event.data.project_id),
  ],
  AgentChanged: (event: OwnerEvent<"AgentChanged">) => {
    const { agent_id, project_id } = event.data;
    return project_id === undefined ? [] : [putProject(event, `agent:${agent_id}`, project_id)];
  },
};
