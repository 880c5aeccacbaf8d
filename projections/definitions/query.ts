import { isUuid } from "#events/ids.ts";
import type { ScriptMeta } from "#events/definition.ts";
import { decoded, encode, type Db } from "../projection.ts";

export interface DefinitionRow {
  id: string;
  type: "tool" | "workflow";
  version: number;
  name: string;
  meta: ScriptMeta;
  /** Secrets that it may have. */
  grants: string[];
  /** Key of the blob (JSON `{source, js}`), sealed with the data key below. */
  blob: string;
  sha256: string;
  /** The data key of `definition-<id>`, wrapped (base64). */
  wrapped_key: string;
  created_at: Date;
  updated_at: Date;
}

export interface VersionRow {
  version: number;
  blob: string;
  sha256: string;
  /** Principal who saved it. */
  created_by: string;
  created_at: Date;
}

const FROM = "from read.definitions d join log.keys k on k.thing = 'definition-' || d.id";
const SELECT = `select d.id, d.type, d.version, d.name, d.meta, d.grants, d.blob, d.sha256, k.wrapped as wrapped_key, d.created_at, d.updated_at ${FROM}`;
type Stored = Omit<DefinitionRow, "meta" | "grants"> & { meta: string; grants: string };
const present = (row: Stored): DefinitionRow => ({
  ...row,
  name: decoded(row.name),
  meta: decoded(row.meta),
  grants: decoded(row.grants),
});

export async function getDefinition(db: Db, organization: string, id: string): Promise<DefinitionRow | undefined> {
  if (!isUuid(id)) return undefined;
  const [row] = await db.query<Stored>(`${SELECT} where d.id = $2 and d.organization_id = $1`, [organization, id]);
  return row && present(row);
}

/** The organization's scripted tools with these names. */
export async function findTools(db: Db, organization: string, names: string[]): Promise<DefinitionRow[]> {
  const rows = await db.query<Stored>(
    `${SELECT} where d.organization_id = $1 and d.type = 'tool' and d.name = any ($2)`,
    [organization, names.map(encode)],
  );
  return rows.map(present);
}

/** In the order they were made; of one type where it is given. */
export async function listDefinitions(
  db: Db,
  organization: string,
  { type, limit, offset }: { type: DefinitionRow["type"] | null; limit: number; offset: number },
): Promise<{ rows: DefinitionRow[]; total: number }> {
  const where = "where d.organization_id = $1 and ($2::text is null or d.type = $2)";
  const rows = await db.query<Stored>(`${SELECT} ${where} order by d.created_at, d.id limit $3 offset $4`, [
    organization,
    type,
    limit,
    offset,
  ]);
  const [count] = await db.query<{ total: number }>(`select count(*)::integer as total ${FROM} ${where}`, [
    organization,
    type,
  ]);
  return { rows: rows.map(present), total: count!.total };
}

/** Every save of a definition, newest first. */
export const listVersions = (db: Db, definition: string): Promise<VersionRow[]> =>
  db.query<VersionRow>(
    "select version, blob, sha256, created_by, created_at from read.definition_versions where definition_id = $1 order by version desc",
    [definition],
  );

/** A version that a workflow is bound to. */
export interface WorkflowVersion {
  name: string;
  version: number;
  /** The newest. */
  latest_version: number;
  /** As this version says it. */
  meta: ScriptMeta;
  blob: string;
  /** SHA-256 of the JavaScript, hex. */
  sha256: string;
  /** The data key of `definition-<id>`, wrapped (base64). */
  wrapped_key: string;
}

/** One version of a definition of type workflow. */
export async function getWorkflowVersion(
  db: Db,
  organization: string,
  id: string,
  version: number,
): Promise<WorkflowVersion | undefined> {
  if (!isUuid(id)) return undefined;
  const [row] = await db.query<Omit<WorkflowVersion, "meta"> & { meta: string }>(
    `select d.name, v.version, d.version as latest_version, v.meta, v.blob, v.sha256, k.wrapped as wrapped_key
     ${FROM} join read.definition_versions v on v.definition_id = d.id
     where d.id = $2 and d.organization_id = $1 and d.type = 'workflow' and v.version = $3`,
    [organization, id, version],
  );
  return row && { ...row, name: decoded(row.name), meta: decoded(row.meta) };
}
