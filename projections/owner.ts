import type { Principal } from "#events/envelope.ts";

/** The owner of threads, files and responses: a key, a person, or the agent that answered. */
export type Owner = { principal: Principal } | { agent_id: string };

/** Things created before this log position, newest first. */
export interface OwnedPage {
  /** Null: begin with the newest. */
  before: number | null;
  limit: number;
}

/** The owner behind `key:<id>`, `person:<id>` or `agent:<id>`. */
export function readOwner(name: string): Owner {
  const [kind, id] = name.split(":") as [string, string];
  return kind === "agent" ? { agent_id: id } : { principal: `${kind as "key" | "person"}:${id}` };
}

/** The column that names an owner, and its value. */
export const ownerColumn = (owner: Owner): { column: "principal" | "agent_id"; value: string } =>
  "principal" in owner
    ? { column: "principal", value: owner.principal }
    : { column: "agent_id", value: owner.agent_id };
