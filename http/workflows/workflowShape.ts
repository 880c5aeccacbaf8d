import { z } from "zod";
import { Envelope, EnvelopeChange } from "#events/workflow.ts";
import type { Tally, WorkflowRow } from "#projections/workflows/query.ts";
import { Warning } from "./envelope.ts";

/** PostgreSQL's integers end here. */
const MAX_VERSION = 2 ** 31 - 1;

const settings = {
  name: z.string().trim().min(1).max(200).nullish().describe("The definition's where none is given."),
  description: z.string().max(4_000).nullish(),
  definition_version: z.int().min(1).max(MAX_VERSION).nullish().describe("The newest where none is given."),
  project_id: z.uuid().nullish().describe("API keys of another project do not reach it."),
  envelope: EnvelopeChange.nullish().describe("What is left out has its default; there are no other fields."),
};

export const Register = z.object({ definition_id: z.string(), ...settings });
/** What is left out stays, null puts back the default. */
export const Change = z.object({ ...settings, enabled: z.boolean().nullish() });

export const Workflow = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  project_id: z.string().nullable(),
  definition: z.object({
    id: z.string(),
    name: z.string().nullable().describe("Null once the definition is deleted."),
    version: z.int().describe("New runs start on it, and stay on it."),
    latest_version: z.int().nullable(),
  }),
  envelope: Envelope,
  envelope_version: z.int().describe("Rises with each change of the envelope."),
  enabled: z.boolean(),
  triggers: z.int().describe("Those that are enabled."),
  runs: z.object({ live: z.int(), total: z.int() }),
  created_by: z.string().describe("`person:<id>`."),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export const Warned = Workflow.extend({ warnings: z.array(Warning) });

export const present = (row: WorkflowRow, { triggers, live, total }: Tally): z.infer<typeof Workflow> => ({
  id: row.id,
  name: row.name,
  description: row.description,
  project_id: row.project_id,
  definition: {
    id: row.definition_id,
    name: row.definition_name,
    version: row.definition_version,
    latest_version: row.latest_version,
  },
  envelope: row.envelope,
  envelope_version: row.envelope_version,
  enabled: row.enabled,
  triggers,
  runs: { live, total },
  created_by: row.created_by,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});
