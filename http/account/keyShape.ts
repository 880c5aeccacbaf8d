import { z } from "zod";
import { Product } from "#events/key.ts";
import type { KeyRow } from "#projections/keys/query.ts";
import { Moment } from "../base/moment.ts";
import { toIso } from "../base/times.ts";

const name = z.string().trim().min(1).max(200);
const settings = {
  products: z.array(Product).max(10),
  expires_at: Moment.nullable(),
  enabled: z.boolean(),
  allowed_models: z.array(z.string().min(1).max(200)).max(500).nullable(),
  client_tools: z
    .boolean()
    .describe("Whether completions may pass `tools` of the caller's own, which the caller runs. False by default."),
};
/** Only the name is required. A new key is enabled for all products. */
export const CreateKeyBody = z.object({ name, project_id: z.uuid().nullish(), ...z.object(settings).partial().shape });
/** A key cannot change its project. */
export const ChangeKeyBody = z.strictObject({ name, ...settings }).partial();

export const Key = z
  .object({
    id: z.string(),
    name: z.string(),
    key_hint: z.string().describe("The last four characters."),
    project_id: z.string().nullable(),
    ...settings,
    last_used_at: z.iso.datetime().nullable(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ title: "Key" });
export const CreatedKey = Key.extend({
  key: z.string().optional().describe("Shown once: a repeated request is answered without it."),
}).meta({ title: "NewKey" });

export const presentKey = (row: KeyRow): z.infer<typeof Key> => ({
  id: row.id,
  name: row.name,
  key_hint: row.key_hint,
  project_id: row.project_id,
  products: row.products as z.infer<typeof Product>[],
  enabled: row.enabled,
  expires_at: toIso(row.expires_at),
  allowed_models: row.allowed_models,
  client_tools: row.client_tools,
  last_used_at: toIso(row.last_used_at),
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

export const toUtc = (moment: string | null | undefined) => (moment ? new Date(moment).toISOString() : null);
export const unique = <T>(values: T[]): T[] => [...new Set(values)];
