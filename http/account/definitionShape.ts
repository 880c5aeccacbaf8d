import { z } from "zod";
import { DEFINITION_NAME, ScriptMeta } from "#events/definition.ts";
import { SECRET_NAME } from "#events/secret.ts";
import type { DefinitionRow, VersionRow } from "#projections/definitions/query.ts";
import { Access } from "./definitionAccess.ts";

/** Maximum characters. Each save stores a full copy, and each check parses it. */
const MAX_SOURCE = 256 * 1024;

export const ScriptType = z.enum(["tool", "workflow"]);
const name = z.string().regex(DEFINITION_NAME, "must be 1 to 64 letters, digits, _ or -, a letter or _ first");
export const source = z.string().min(1).max(MAX_SOURCE);
const grants = z
  .array(z.string().regex(SECRET_NAME))
  .max(50)
  .describe("Secrets that the script may read, out of those that it lists.");

export const CreateDefinitionBody = z.object({
  type: ScriptType,
  name: name.optional(),
  source,
  grants: grants.optional(),
});
export const ChangeDefinitionBody = z.strictObject({ name, source, grants }).partial();

export const Definition = z
  .object({
    id: z.string(),
    type: ScriptType,
    name: z.string(),
    version: z.int(),
    description: z.string(),
    parameters: z.record(z.string(), z.unknown()),
    secrets: z.array(z.string()).describe("Secrets that the script lists in its meta."),
    workflow: ScriptMeta.shape.workflow.describe("Of a workflow: its steps, and the warnings of the lint."),
    grants: z.array(z.string()),
    sha256: z.string(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ title: "Definition" });
export const DefinitionWithSource = Definition.extend({ source: z.string(), access: Access }).meta({
  title: "DefinitionWithSource",
});
/** The answer to a save. Workflows registered with an older version do not change. */
export const SavedDefinition = DefinitionWithSource.extend({
  pinned_workflows: z
    .array(z.object({ id: z.string(), name: z.string(), definition_version: z.int() }))
    .describe("Enabled workflows whose new runs still execute an older version."),
  notice: z.string().nullable().describe("How to move them to the new version; null without such workflows."),
}).meta({ title: "SavedDefinition" });

const MOVE = `PATCH /api/workflows/{id} with {"definition_version": null}`;
export const pinNotice = (version: number, count: number): string | null =>
  count === 0
    ? null
    : `Version ${version} is saved, and ${count === 1 ? "one workflow stays" : `${count} workflows stay`} at an older one: ${MOVE} moves a workflow to the newest version. Runs that have started keep theirs.`;

export const presentDefinition = (row: DefinitionRow): z.infer<typeof Definition> => ({
  id: row.id,
  type: row.type,
  name: row.name,
  version: row.version,
  ...row.meta,
  grants: row.grants,
  sha256: row.sha256,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

export const DefinitionVersion = z
  .object({
    version: z.int(),
    sha256: z.string(),
    created_by: z.string().describe("`person:<id>`."),
    created_at: z.iso.datetime(),
    source: z.string(),
  })
  .meta({ title: "DefinitionVersion" });

export const presentVersion = (
  { version, sha256, created_by, created_at }: VersionRow,
  source: string,
): z.infer<typeof DefinitionVersion> => ({ version, sha256, created_by, created_at: created_at.toISOString(), source });
