import { escapeJson } from "#events/json.ts";
import { decode, type Db } from "./projection.ts";

/** Where each kind of thing stores its names. A row whose data key is destroyed counts as erased. */
const NAMES = {
  agent: "from read.agents t join log.keys k on k.thing = 'agent-' || t.id",
  collection: "from read.collections t join log.keys k on k.thing = 'collection-' || t.id",
  workflow: "from read.workflows t join log.keys k on k.thing = 'workflow-' || t.id",
  user: "from read.users t",
  definition: "from read.definitions t join log.keys k on k.thing = 'definition-' || t.id",
  key: "from read.keys t",
} as const;

export type NamedKind = keyof typeof NAMES;

export interface NamedThing {
  kind: NamedKind;
  id: string;
  name: string;
}

/** Things whose names contain this text, ignoring case: those that begin with it first, then by name. */
export async function findNamed(
  db: Db,
  organization: string,
  { text, kinds, limit }: { text: string; kinds: NamedKind[]; limit: number },
): Promise<NamedThing[]> {
  const places = kinds.map(
    (kind) => `select '${kind}' as kind, t.id, t.name, position(lower($2) in lower(t.name)) as place
      ${NAMES[kind]} where t.organization_id = $1`,
  );
  // names are stored as JSON
  const rows = await db.query<NamedThing>(
    `select kind, id, name from (${places.join(" union all ")}) named
     where place > 0 order by place > 2, lower(name), id limit $3`,
    [organization, escapeJson(text), limit],
  );
  return rows.map((row) => ({ ...row, name: decode<string>(row.name) }));
}
