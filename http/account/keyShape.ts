import { z } from "zod";
import { Product } from "#events/key.ts";
import type { KeyRow } from "#projections/keys/query.ts";

/** PostgreSQL knows no year 0, and ISO 8601 writes years from 10000 otherwise: an event with such a time could not be projected. */
const END_OF_TIME = Date.UTC(10_000, 0);
const moment = z.iso
  .datetime({ offset: true })
  .refine((text) => Date.parse(text) >= 0 && Date.parse(text) < END_OF_TIME, "must be between the years 1970 and 9999");

const name = z.string().trim().min(1).max(200);
const settings = {
  products: z.array(Product).max(10),
  expires_at: moment.nullable(),
  enabled: z.boolean(),
  allowed_models: z.array(z.string().min(1).max(200)).max(500).nullable(),
};
/** What is sent to create a key; products default to both. */
export const Create = z.object({ name, project_id: z.uuid().nullish(), ...z.object(settings).partial().shape });
export const Change = z.object({ name, ...settings }).partial();

export const Key = z.object({
  id: z.string(),
  name: z.string(),
  key_hint: z.string().describe("The last four characters."),
  project_id: z.string().nullable(),
  ...settings,
  last_used_at: z.iso.datetime().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export const Created = Key.extend({
  key: z.string().optional().describe("Shown once, and not again when the request is repeated."),
});

const time = (date: Date | null) => date?.toISOString() ?? null;

export const present = (row: KeyRow): z.infer<typeof Key> => ({
  id: row.id,
  name: row.name,
  key_hint: row.key_hint,
  project_id: row.project_id,
  products: row.products as z.infer<typeof Product>[],
  enabled: row.enabled,
  expires_at: time(row.expires_at),
  allowed_models: row.allowed_models,
  last_used_at: time(row.last_used_at),
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

export const utc = (moment: string | null | undefined) => (moment ? new Date(moment).toISOString() : null);
export const unique = <T>(values: T[]): T[] => [...new Set(values)];
