import { z } from "zod";
import { EnvelopeChange, RunAs } from "#events/workflow.ts";
import type { TriggerRow } from "#projections/triggers/query.ts";
import type { FieldCodes } from "../validate.ts";

const MAX_DEFAULT_ARGS_BYTES = 65_536;

export const TRIGGER_CODES: FieldCodes = [
  [/^run_as/, "invalid_run_as"],
  [/^default_args/, "invalid_default_args"],
];

export const Create = z.object({
  name: z.string().trim().max(200).nullish(),
  default_args: z
    .record(z.string(), z.unknown(), "must be a JSON object")
    .refine(
      (args) => Buffer.byteLength(JSON.stringify(args)) <= MAX_DEFAULT_ARGS_BYTES,
      `must be at most ${MAX_DEFAULT_ARGS_BYTES} bytes`,
    )
    .nullish()
    .describe("The caller's payload is merged over it, by top-level fields."),
  run_as: EnvelopeChange.shape.run_as.describe("In place of the workflow's own."),
});

export const Trigger = z.object({
  id: z.string(),
  workflow_id: z.string(),
  name: z.string(),
  hook_token: z.string(),
  hook_url: z.string(),
  secret_hint: z.string().describe("The last four characters of the secret."),
  default_args: z.record(z.string(), z.unknown()),
  run_as: RunAs.nullable(),
  enabled: z.boolean(),
  runs: z.int(),
  last_used_at: z.iso.datetime().nullable().describe("When it last started a run."),
  created_at: z.iso.datetime(),
  rotated_at: z.iso.datetime().nullable(),
});
export const WithSecret = Trigger.extend({
  secret: z.string().optional().describe("Shown once, and not again when the request is repeated."),
});

/** @param base public address of the service; a request's Host has no say in what its callers are told. */
export const present = (row: TriggerRow, runs: number, base: string): z.infer<typeof Trigger> => ({
  id: row.id,
  workflow_id: row.workflow_id,
  name: row.name,
  hook_token: row.hook_token,
  hook_url: `${base}/api/workflows/hooks/${row.hook_token}`,
  secret_hint: row.secret_hint,
  default_args: JSON.parse(row.default_args) as Record<string, unknown>,
  run_as: row.run_as,
  enabled: row.enabled,
  runs,
  last_used_at: row.last_used_at?.toISOString() ?? null,
  created_at: row.created_at.toISOString(),
  rotated_at: row.rotated_at?.toISOString() ?? null,
});
