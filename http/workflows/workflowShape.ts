import { z } from "zod";
import { Envelope, EnvelopeChange } from "#events/workflow.ts";
import type { WorkflowCounts, WorkflowRow } from "#projections/workflows/query.ts";
import { Warning } from "./envelope.ts";

/** The largest integer of PostgreSQL. */
export const MAX_VERSION = 2 ** 31 - 1;

const settings = {
  name: z.string().trim().min(1).max(200).nullish().describe("Default: the name of the definition."),
  description: z.string().max(4_000).nullish(),
  definition_version: z.int().min(1).max(MAX_VERSION).nullish().describe("Default: the newest."),
  project_id: z.uuid().nullish().describe("A project's API keys reach only the workflows of that project."),
  envelope: EnvelopeChange.nullish().describe("Fields left out have their defaults. Unknown fields are refused."),
};

export const RegisterWorkflowBody = z.object({ definition_id: z.string(), ...settings });
/** A field left out keeps its value; null resets it to the default. */
export const ChangeWorkflowBody = z.object({ ...settings, enabled: z.boolean().nullish() });

export const Workflow = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    project_id: z.string().nullable(),
    definition: z.object({
      id: z.string(),
      name: z.string().nullable().describe("Null once the definition is deleted."),
      version: z.int().describe("A run stays on the version it was started with."),
      latest_version: z.int().nullable(),
    }),
    envelope: Envelope,
    envelope_version: z.int().describe("Increases with each change of the envelope."),
    enabled: z.boolean(),
    triggers: z.int().describe("Enabled triggers."),
    runs: z.object({ live: z.int(), total: z.int() }),
    created_by: z.string().describe("`person:<id>`."),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ title: "Workflow" });
/** Defaults of rules that envelopes of earlier releases lack. */
const LATER_RULES = { allow_api_key_when_restricted: false, self_approval: true };

export const WorkflowWithWarnings = Workflow.extend({ warnings: z.array(Warning) }).meta({
  title: "WorkflowWithWarnings",
});

export const presentWorkflow = (
  row: WorkflowRow,
  { triggers, live, total }: WorkflowCounts,
): z.infer<typeof Workflow> => ({
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
  envelope: { ...row.envelope, approvals: { ...LATER_RULES, ...row.envelope.approvals } },
  envelope_version: row.envelope_version,
  enabled: row.enabled,
  triggers,
  runs: { live, total },
  created_by: row.created_by,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});
