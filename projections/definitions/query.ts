import { isUuid } from "#events/ids.ts";
import type { ScriptMeta } from "#events/definition.ts";
import { readPage, type Page, type PageRows } from "../page.ts";
import { decode, encode, findById, type Db } from "../projection.ts";

export interface DefinitionRow {
  id: string;
  type: "tool" | "workflow";
  version: number;
  name: string;
  meta: ScriptMeta;
  /** Names of the secrets granted to it. */
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
  /** The principal that saved it. */
  created_by: string;
  created_at: Date;
}

const FROM = "from read.definitions d join log.keys k on k.thing = 'definition-' || d.id";
const SELECT = `select d.id, d.type, d.version, d.name, d.meta, d.grants, d.blob, d.sha256, k.wrapped as wrapped_key, d.created_at, d.updated_at ${FROM}`;
type StoredRow = Omit<DefinitionRow, "meta" | "grants"> & { meta: string; grants: string };
const parseRow = (row: StoredRow): DefinitionRow => ({
  ...row,
  name: decode(row.name),
  meta: decode(row.meta),
  grants: decode(row.grants),
});

export const getDefinition = findById(`${SELECT} where d.id = $2 and d.organization_id = $1`, parseRow);

/** Tools of the organization by name. */
export async function findTools(db: Db, organization: string, names: string[]): Promise<DefinitionRow[]> {
  const rows = await db.query<StoredRow>(
    `${SELECT} where d.organization_id = $1 and d.type = 'tool' and d.name = any ($2)`,
    [organization, names.map(encode)],
  );
  return rows.map(parseRow);
}

/** In order of creation; `type` null: definitions of both types. */
export function listDefinitions(
  db: Db,
  organization: string,
  { type, ...page }: Page & { type: DefinitionRow["type"] | null },
): Promise<PageRows<DefinitionRow>> {
  const where = "where d.organization_id = $1 and ($2::text is null or d.type = $2)";
  const ordered = `${SELECT} ${where} order by d.created_at, d.id`;
  return readPage(db, page, { ordered, from: `${FROM} ${where}`, values: [organization, type], parseRow });
}

/** The versions of a definition, newest first. */
export function listVersions(db: Db, definition: string, page: Page): Promise<PageRows<VersionRow>> {
  const from = "from read.definition_versions where definition_id = $1";
  const ordered = `select version, blob, sha256, created_by, created_at ${from} order by version desc`;
  return readPage(db, page, { ordered, from, values: [definition], parseRow: (row: VersionRow) => row });
}

/** The definition version that a workflow runs. */
export interface WorkflowVersion {
  name: string;
  version: number;
  /** The newest version of the definition. */
  latest_version: number;
  /** The declarations of this version. */
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
  return row && { ...row, name: decode(row.name), meta: decode(row.meta) };
}
