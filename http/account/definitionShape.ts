import { z } from "zod";
import { DEFINITION_NAME, ScriptMeta } from "#events/definition.ts";
import { SECRET_NAME } from "#events/secret.ts";
import type { DefinitionRow, VersionRow } from "#projections/definitions/query.ts";

/** A script has better things to be than long. */
const MAX_SOURCE = 256 * 1024;

const Type = z.enum(["tool", "workflow"]);
const name = z.string().regex(DEFINITION_NAME, "must be 1 to 64 letters, digits, _ or -, a letter or _ first");
const source = z.string().min(1).max(MAX_SOURCE);
const grants = z
  .array(z.string().regex(SECRET_NAME))
  .max(50)
  .describe("Secrets that the script may have, of those that it asks for.");

export const Create = z.object({ type: Type, name: name.optional(), source, grants: grants.optional() });
export const Change = z.object({ name, source, grants }).partial();

export const Definition = z.object({
  id: z.string(),
  type: Type,
  name: z.string(),
  version: z.int(),
  description: z.string(),
  parameters: z.record(z.string(), z.unknown()),
  secrets: z.array(z.string()).describe("What the script asks for."),
  workflow: ScriptMeta.shape.workflow.describe(
    "Of a workflow: its steps, and what a reader of the code would warn of.",
  ),
  grants: z.array(z.string()),
  sha256: z.string(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export const WithSource = Definition.extend({ source: z.string() });

export const present = (row: DefinitionRow): z.infer<typeof Definition> => ({
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

export const Version = z.object({
  version: z.int(),
  sha256: z.string(),
  created_by: z.string().describe("`person:<id>`."),
  created_at: z.iso.datetime(),
  source: z.string(),
});

export const presentVersion = (
  { version, sha256, created_by, created_at }: VersionRow,
  source: string,
): z.infer<typeof Version> => ({ version, sha256, created_by, created_at: created_at.toISOString(), source });
