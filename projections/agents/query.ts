import type { ToolApprovals } from "#events/toolApproval.ts";
import { readPage, type Page, type PageRows } from "../page.ts";
import { decode, decodeOrNull, encode, findById, type Db } from "../projection.ts";

export interface AgentRow {
  id: string;
  version: number;
  name: string;
  instructions: string;
  /** `provider/model`; null: not configured. */
  model: string | null;
  tools: string[];
  /** Ids; null: all collections of the organization. */
  collections: string[] | null;
  reasoning_effort: string | null;
  api_enabled: boolean;
  project_id: string | null;
  expose_tool_items: boolean;
  /** Whether requests may pass tools of the caller's own. */
  client_tools: boolean;
  /** Tools whose calls wait for a person. */
  tool_approvals: ToolApprovals;
  created_at: Date;
  updated_at: Date;
}

const SELECT = `select a.id, a.version, a.name, a.instructions, a.model, a.tools, a.collections, a.reasoning_effort, a.api_enabled,
    a.project_id, a.expose_tool_items, a.client_tools, a.tool_approvals, a.created_at, a.updated_at
  from read.agents a join log.keys k on k.thing = 'agent-' || a.id`;
type StoredRow = Omit<AgentRow, "tools" | "collections" | "tool_approvals"> & {
  tools: string;
  collections: string | null;
  tool_approvals: string;
};
const parseRow = (row: StoredRow): AgentRow => ({
  ...row,
  name: decode(row.name),
  instructions: decode(row.instructions),
  model: decodeOrNull(row.model),
  tools: decode(row.tools),
  collections: decodeOrNull(row.collections),
  reasoning_effort: decodeOrNull(row.reasoning_effort),
  tool_approvals: decode(row.tool_approvals),
});

export const getAgent = findById(`${SELECT} where a.id = $2 and a.organization_id = $1`, parseRow);

/** Ids of agents with a name that a project can use; at most ten, which is enough to see that the name is ambiguous. */
export async function listAgentsNamed(
  db: Db,
  { organization_id, project_id }: { organization_id: string; project_id: string | null },
  name: string,
): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    `select id from read.agents where organization_id = $1 and name = $2
      and ($3::uuid is null or project_id is null or project_id = $3) order by id limit 10`,
    [organization_id, encode(name), project_id],
  );
  return rows.map(({ id }) => id);
}

/** Names of the agents that have a tool, in order of creation. */
export async function listAgentsWithTool(db: Db, organization: string, tool: string): Promise<string[]> {
  const rows = await db.query<{ name: string }>(
    `select a.name from read.agents a join log.keys k on k.thing = 'agent-' || a.id
     where a.organization_id = $1 and a.tools::jsonb ? $2 order by a.created_at, a.id`,
    [organization, tool],
  );
  return rows.map(({ name }) => decode(name));
}

/** In order of creation. */
export const listAgents = (db: Db, organization: string, page: Page): Promise<PageRows<AgentRow>> =>
  readPage(db, page, {
    ordered: `${SELECT} where a.organization_id = $1 order by a.created_at, a.id`,
    from: "from read.agents where organization_id = $1",
    values: [organization],
    parseRow,
  });
