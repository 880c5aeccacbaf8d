import { isUuid } from "#events/ids.ts";
import { decode, decoded, type Db } from "../projection.ts";

export interface AgentRow {
  id: string;
  version: number;
  name: string;
  instructions: string;
  /** `provider/model`; null: not configured. */
  model: string | null;
  tools: string[];
  /** Ids; null: every collection of the organization. */
  collections: string[] | null;
  reasoning_effort: string | null;
  api_enabled: boolean;
  project_id: string | null;
  expose_tool_items: boolean;
  created_at: Date;
  updated_at: Date;
}

const SELECT = `select a.id, a.version, a.name, a.instructions, a.model, a.tools, a.collections, a.reasoning_effort, a.api_enabled,
    a.project_id, a.expose_tool_items, a.created_at, a.updated_at
  from read.agents a join log.keys k on k.thing = 'agent-' || a.id`;
type Stored = Omit<AgentRow, "tools" | "collections"> & { tools: string; collections: string | null };
const present = (row: Stored): AgentRow => ({
  ...row,
  name: decoded(row.name),
  instructions: decoded(row.instructions),
  model: decode(row.model),
  tools: decoded(row.tools),
  collections: decode(row.collections),
  reasoning_effort: decode(row.reasoning_effort),
});

export async function getAgent(db: Db, organization: string, id: string): Promise<AgentRow | undefined> {
  if (!isUuid(id)) return undefined;
  const [row] = await db.query<Stored>(`${SELECT} where a.id = $2 and a.organization_id = $1`, [organization, id]);
  return row && present(row);
}

/** In the order they were made. */
export async function listAgents(
  db: Db,
  organization: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: AgentRow[]; total: number }> {
  const rows = await db.query<Stored>(
    `${SELECT} where a.organization_id = $1 order by a.created_at, a.id limit $2 offset $3`,
    [organization, limit, offset],
  );
  const [count] = await db.query<{ total: number }>(
    "select count(*)::integer as total from read.agents where organization_id = $1",
    [organization],
  );
  return { rows: rows.map(present), total: count!.total };
}
