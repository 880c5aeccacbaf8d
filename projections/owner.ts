import type { Principal } from "#events/envelope.ts";

/** Whose threads, files and responses: a key's, a person's, or those that an agent answered. */
export type Owner = { principal: Principal } | { agent_id: string };

/** What was created before this position of the log, newest first. */
export interface OwnedPage {
  /** Null: from the newest on. */
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
